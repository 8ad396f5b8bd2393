"""Programs that live outside /usr and are required by a task: found, shown in the box, and no more than that."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial import __main__ as command
from fairtrial.authoring.check import check_task
from fairtrial.contracts.protocols import Bind
from fairtrial.instruments.sandbox.toolchains import binds_for
from fairtrial.plan import tasks

from tests.lab import make_task


def program(path: Path, text: str = "#!/bin/sh\necho 42\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOME whose programs come first."""
    found = (tmp_path / "home").resolve()
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    places = [found / "kit/bin", found / ".local/bin", found / "bin", found / ".cargo/bin"]
    monkeypatch.setenv("PATH", ":".join([*map(str, places), "/usr/bin", "/bin"]))
    return found


def test_nothing_is_shown_for_what_a_box_has_anyway(home: Path) -> None:
    """Programs below /usr, Python, and programs that are not installed add nothing."""
    program(home / "kit/bin/python3")
    assert binds_for(["sh", "python3", "no-such-compiler"]) == ([], [])


def test_a_toolchain_is_its_folder_and_comes_on_path(home: Path) -> None:
    """Two programs of one toolchain are one bind; a link is followed to the toolchain it leads to."""
    kit = home / "kit"
    program(kit / "bin/makeit")
    program(kit / "bin/lookit")
    (home / "bin").mkdir()
    (home / "bin/linked").symlink_to(program(home / "opt/other/bin/linked"))
    other = home / "opt/other"
    binds, path = binds_for(["makeit", "lookit", "linked"])
    assert binds == [Bind(kit, str(kit)), Bind(other, str(other))]
    assert path == [str(kit / "bin"), str(other / "bin")]


@pytest.mark.parametrize("place", ["bin", ".local/bin", "kit"])
def test_only_the_program_is_shown_where_its_folder_holds_more(
    home: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HOME and ~/.local hold logins; a program there is shown alone."""
    monkeypatch.setenv("PATH", str(home / place))
    found = program(home / place / "makeit")
    assert binds_for(["makeit"]) == ([Bind(found, str(found))], [str(found.parent)])


def test_a_proxy_of_rustup_leads_to_its_toolchain(home: Path) -> None:
    """The links in ~/.cargo/bin start a compiler elsewhere; that folder is shown, ~/.cargo is not."""
    kit = home / ".rustup/toolchains/stable"
    program(kit / "bin/cargo")
    program(home / ".cargo/bin/rustup", f"#!/bin/sh\necho {kit}\n")
    for name in ("rustc", "cargo"):
        (home / ".cargo/bin" / name).symlink_to("rustup")
    assert binds_for(["cargo"]) == ([Bind(kit, str(kit))], [str(kit / "bin")])


def test_a_required_program_outside_usr_works_in_every_box(home: Path) -> None:
    """The green command, the verifier's children and a solution's script all find it: the package is proven."""
    program(home / "kit/bin/makeit", '#!/bin/sh\ncat "${0%/*}/../share/answer"\n')
    (home / "kit/share").mkdir()
    (home / "kit/share/answer").write_text("42\n")
    folder = make_task(home / "suites/tiny", "one")
    toml, verifier = folder / "task.toml", folder / "verifier/verify.py"
    toml.write_text(toml.read_text().replace('check = "', 'requires = ["makeit"]\ncheck = "test $(makeit) = 42 && '))
    verifier.write_text(verifier.read_text().replace('"42\\n"', 'v.ok(v.run(["makeit"])).text'))
    (folder / "solution/answer.txt").unlink()
    (folder / "solution/solve.sh").write_text("makeit > /task/answer.txt\n")
    assert check_task(tasks.read("tiny/one", folder)).problems == []


def test_a_task_without_its_toolchain_is_listed_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`fairtrial list skipped` names it, also when the experiment does not select it."""
    for name, requires in (("one", "[]"), ("two", '["no-such-compiler"]')):
        toml = make_task(tmp_path / "suites/tiny", name) / "task.toml"
        toml.write_text(toml.read_text().replace("[verifier", f"requires = {requires}\n[verifier", 1))
    config = tmp_path / "config.yaml"
    config.write_text(f"tasks: [tiny/one]\ntasks_dirs: ['{tmp_path}/suites']\nharnesses: [noop]\n")
    assert command.main(["list", "skipped", "--configfile", str(config)]) == 0
    assert "  tiny/two: no-such-compiler is not installed\n" in capsys.readouterr().out
