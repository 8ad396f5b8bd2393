"""Hidden checks of bash-rotate: folders full of odd names, and everything that must never be deleted."""

import os

from fairtrial.verify import Failed, Verification

v = Verification()
USAGE = "usage: rotate.sh [-n] KEEP DIR\n"
DATES = [f"backup-2024010{n}" for n in range(1, 6)]


def rotate(
    argv: list[str], files: list[str], *, folder: str = "store", prepare: str = "", status: int = 0, errors: str = ""
) -> tuple[str, list[str]]:
    """Run the script beside a folder with `files`; its output, and what is in the folder afterwards, sorted."""
    place = v.copy()
    inside = place / "at" / folder
    inside.mkdir(parents=True)
    for name in files:
        (inside / name).write_bytes(b"x")
    script = f"{prepare}\ncd at && exec bash ../rotate.sh \"$@\""
    result = v.run(["bash", "-c", script, "ask", *argv], at=place)
    if result.timed_out:
        raise Failed(str(result))
    said = (result.status, result.stderr.decode(errors="replace"))
    v.equal(list(said), [status, errors], f"status and errors of {argv}")
    return result.stdout.decode(errors="replace"), sorted(os.listdir(inside))


def lines(word: str, *names: str) -> str:
    """The expected output."""
    return "".join(f"{word} {name}\n" for name in names)


@v.check("dry-run")
def dry_run() -> None:
    """Both spellings print what would go and delete nothing."""
    files = [f"{date}.tar" for date in DATES]
    for flag in ("-n", "--dry-run"):
        output, left = rotate([flag, "3", "store"], files)
        v.equal([output, left], [lines("would delete", *files[:2]), files], f"output and files with {flag}")
    output, left = rotate(["-n", "0", "store"], files)
    v.equal([output, left], [lines("would delete", *files), files], "output and files with -n 0")


@v.check("odd-names")
def odd_names() -> None:
    """Blanks, quotes, globbing, line breaks, in files and in the folder's name."""
    files = [f"{DATES[0]} a  b.tar", f"{DATES[1]}'q\".tar", f"{DATES[2]}*.tar", f"{DATES[3]}\nx.tar", f"{DATES[4]}.tar"]
    shown = [name.replace("\n", "?") for name in files]
    output, left = rotate(["1", "store"], files)
    v.equal([output, left], [lines("deleted", *shown[:4]), files[4:]], "odd files")
    for folder in ("a b", "-n", "--", "*", "x'y", "a\nb"):
        output, left = rotate(["4", folder], files, folder=folder)
        v.equal([output, left], [lines("deleted", shown[0]), sorted(files[1:])], f"files of a folder named {folder!r}")


@v.check("refusals")
def refusals() -> None:
    """Wrong arguments: a message, a status, nothing deleted, nothing printed."""
    files = [f"{date}.tar" for date in DATES]
    for argv in ([], ["2"], ["2", "store", "more"], ["-2", "store"], ["two", "store"], ["", "store"], ["-x", "2", "store"],
                 ["1 2", "store"], ["2", "-n", "store"], ["-n", "store"], ["0x1", "store"], ["+1", "store"]):  # fmt: skip
        v.equal(list(rotate(argv, files, status=2, errors=USAGE)), ["", files], f"output and files with {argv}")
    for name in ("elsewhere", "-e", "a file"):
        message = f"rotate.sh: {name}: not a folder\n"
        got = rotate(["0", name], files, prepare="echo > 'at/a file'", status=1, errors=message)
        v.equal(list(got), ["", files], f"output and files with the folder {name}")
    for keep in ("05", "08", "7", "99999999999999999999"):
        v.equal(list(rotate([keep, "store"], files)), ["", files], f"output and files when {keep} are kept")


@v.check("newest-kept")
def newest_kept() -> None:
    """The last names in byte order stay, whatever the times of the files say; zero keeps none."""
    files = ["backup-20231231.tar", "backup-20240101-A.tar", "backup-20240101-a.tar", "backup-20240101.tar"]
    in_order = sorted(files, key=str.encode)
    for keep in range(5):
        got = rotate([str(keep), "store"], files, prepare="touch -d 2001-01-01 at/store/backup-20240101-a.tar")
        gone = in_order[: len(files) - keep]
        v.equal(list(got), [lines("deleted", *gone), in_order[len(gone) :]], f"output and files when {keep} are kept")


@v.check("others-kept")
def others_kept() -> None:
    """Other names, folders, links and what they point to, sub-folders, files beside DIR."""
    others = ["backup-2024.tar", "backup-2024010.tar", "backup-20240101.tar.gz", "xbackup-20240101.tar", "Backup-20240101.tar",
              "backup-2024010a.tar", ".backup-20240101.tar"]  # fmt: skip
    prepare = (
        "mkdir at/store/backup-20200101.tar at/store/sub; echo k > at/store/backup-20200101.tar/backup-20200101.tar;"
        " echo k > at/store/sub/backup-20200101.tar; echo k > at/backup-20200101.tar; echo k > backup-20200101.tar;"
        " ln -s ../backup-20200101.tar at/store/backup-20200102.tar"
    )
    files = [f"{date}.tar" for date in DATES[:2]]
    kept = sorted([*others, "backup-20200101.tar", "backup-20200102.tar", "sub"])
    output, left = rotate(["1", "store"], [*others, *files], prepare=prepare)
    v.equal([output, left], [lines("deleted", files[0]), sorted([*kept, files[1]])], "output and files")
    look = "; ".join(f"cat {path}" for path in ("backup-20200101.tar", "at/backup-20200101.tar", "at/store/sub/*",
                                                  "at/store/backup-20200101.tar/*"))  # fmt: skip
    place = v.copy()
    store = place / "at" / "store"
    store.mkdir(parents=True)
    script = f"{prepare}\n(cd at && bash ../rotate.sh 0 store); {look}"
    v.equal(v.run(["bash", "-c", script], at=place).text, "k\n" * 4, "files outside of DIR and below it")


v.finish()
