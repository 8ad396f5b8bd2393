"""Laboratories whose attempts run as SLURM jobs, what SLURM says of them, and a provider that charges."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.lab import CHECKOUT, Lab

QUICK = (
    "--slurm-init-seconds-before-status-checks=2", "--seconds-between-status-checks=2", "--latency-wait=5",
    "--jobs=2",  # submissions of eight attempts at once; a CI machine has two cores
    "--default-resources", "mem_mb=500", "runtime=10", "slurm_partition=main",
)  # fmt: skip


class Cluster(Lab):
    """A laboratory whose attempts run as SLURM jobs."""

    def command(self, *arguments: str) -> list[str]:
        """The snakemake command line with the shipped profile, asking SLURM more often than its defaults do."""
        profile = str(CHECKOUT / "workflow" / "profiles" / "slurm")
        return super().command("--profile", profile, *QUICK, *arguments)

    def scripts(self) -> str:
        """Every batch script that SLURM was given."""
        found = []
        for job in sorted(jobs()):
            done = subprocess.run(["scontrol", "write", "batch_script", job, "-"], capture_output=True, check=False)
            found.append(done.stdout.decode())
        return "\n".join(found)


class Login(Cluster):
    """One whose snakemake runs on a host of its own, as on a login node: by name, which is all that leases know."""

    def command(self, *arguments: str) -> list[str]:
        """The command line in a UTS namespace with another host name."""
        return ["unshare", "--uts", "sh", "-c", 'hostname login && exec "$@"', "sh", *super().command(*arguments)]


class Generic(Lab):
    """A laboratory whose attempts run as SLURM jobs that the profile for any scheduler submits."""

    def command(self, *arguments: str) -> list[str]:
        """The snakemake command line with that profile."""
        profile = str(CHECKOUT / "workflow" / "profiles" / "cluster-generic")
        return [
            *super().command(*arguments),
            "--profile",
            profile,
            "--latency-wait=5",
            "--max-status-checks-per-second=5",
        ]


def jobs(*states: str) -> list[str]:
    """Ids of SLURM jobs in these states; default any."""
    chosen = ",".join(states) or "all"
    asked = ["squeue", "--noheader", "--format=%i", f"--states={chosen}"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()


def asked(job: str, key: str) -> str:
    """What SLURM knows of a job."""
    text = subprocess.run(["scontrol", "show", "job", job], capture_output=True, text=True, check=True).stdout
    return dict(part.split("=", 1) for part in text.split() if "=" in part)[key]


def log_of(job: str) -> str:
    """What a job printed; the plug-in deletes that of a job that ended well."""
    path = Path(asked(job, "StdOut"))
    return path.read_text(errors="replace") if path.exists() else ""


def refusals(job: str) -> list[str]:
    """Why attempts in a job that ended FAILED were not run; the test fails if the job did for another reason.

    None is told where another run had replaced the attempt's log before this job printed it.
    """
    text = log_of(job)
    for wrong in ("MissingOutputException", "IncompleteFilesException", "MissingInputException", "LockException"):
        assert wrong not in text, text
    return [line for line in text.splitlines() if ": not run: " in line]


def idle() -> bool:
    """Is nothing queued and nothing running?"""
    return not jobs("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")


class Provider(BaseHTTPRequestHandler):
    """Chat completions of 1,000 tokens in and 100 out; the server counts them and notes the keys that came."""

    server: Charging

    def do_POST(self) -> None:
        """Answer one request."""
        self.rfile.read(int(self.headers["content-length"]))
        self.server.keys.append(self.headers.get("authorization", ""))
        usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
        said = {"role": "assistant", "content": "42"}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        body = json.dumps(
            {"object": "chat.completion", "model": "seen-1", "choices": [choice], "usage": usage}
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Charging(ThreadingHTTPServer):
    """The provider's server; `keys` has one entry a request, that is one a start of the agent below."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Provider)
        self.keys: list[str] = []

    @property
    def url(self) -> str:
        """Its address, as a model's base_url."""
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def charging() -> Iterator[Charging]:
    """A provider on loopback; the node of a one-node cluster reaches it."""
    server = Charging()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
