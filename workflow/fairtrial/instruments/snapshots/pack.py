"""One append-only file that holds every object of an attempt's snapshots.

Format: the line ``ftpack1``, then objects one after another, each a header of 41 bytes and its payload:

    kind       1 byte    r content as it is, z content compressed by zlib, d a tree as the difference to another
    digest     32 bytes  sha256 of the content (of a tree: of its canonical spelling)
    length     8 bytes   of the payload, big endian

The payload of ``d`` is the other tree's digest (32 bytes), then, compressed, the entries that differ; see manifest.py.
There is no index: opening the file reads the headers. Every read is checked against the digest, so a damaged pack
gives an error and never wrong content.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path

from fairtrial.contracts.errors import Fault, UserError

MAGIC = b"ftpack1\n"
RAW, PACKED, DELTA = b"r", b"z", b"d"
_HEADER = struct.Struct(">c32sQ")
_WORTH = 0.9  # keep the compressed form when it is at most this part of the content
_PART = 16 << 20  # larger contents are read and written in parts of this size
_PROBE = 4096  # bytes tried first, so that what does not compress costs little
_RATIO = 1032  # zlib makes nothing smaller than this part of it


class Pack:
    """Objects by digest in the file `path`, which appears with the first object."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._where: dict[bytes, tuple[bytes, int, int]] = {}  # digest -> kind, offset of the payload, its length
        self._file: int | None = None
        self._writable = False
        self.size = 0
        if path.exists():
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._scan()

    def _scan(self) -> None:
        size = os.fstat(self._open()).st_size
        if os.pread(self._open(), len(MAGIC), 0) != MAGIC:
            raise UserError(f"{self.path}: no snapshot pack of this version; expected it to begin with {MAGIC!r}")
        offset = len(MAGIC)
        while offset < size:
            header = os.pread(self._open(), _HEADER.size, offset)
            if len(header) < _HEADER.size:
                raise self._damaged("ends inside a header")
            kind, digest, length = _HEADER.unpack(header)
            offset += _HEADER.size
            if kind not in (RAW, PACKED, DELTA) or offset + length > size:
                raise self._damaged(f"bad object at byte {offset - _HEADER.size}")
            self._where[digest] = (kind, offset, length)
            offset += length
        self.size = size

    def _damaged(self, what: str) -> UserError:
        return UserError(f"{self.path}: damaged snapshot pack ({what}); the seal's digest of it cannot hold either")

    def _open(self) -> int:
        if self._file is None:
            raise UserError(f"{self.path}: no such file, so no snapshots were kept")
        return self._file

    def _for_writing(self) -> int:
        if not self._writable:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._file is None
            self.close()
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._writable = True
            if fresh:
                self._write(MAGIC)
                self.size = len(MAGIC)
        return self._open()

    def _write(self, *parts: bytes) -> None:
        """Write all of it at the end; when that fails, nothing of the object stays."""
        file = self._for_writing()
        view = memoryview(b"".join(parts))
        try:
            while view:
                view = view[os.write(file, view) :]
        except OSError as error:
            os.ftruncate(file, self.size)
            raise Fault("disk", f"{self.path}: {error.strerror}; free some space and run the same command") from None

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._where

    def __len__(self) -> int:
        return len(self._where)

    def kind(self, digest: bytes) -> bytes:
        """RAW, PACKED or DELTA; UserError for an unknown digest."""
        return self._at(digest)[0]

    def _at(self, digest: bytes) -> tuple[bytes, int, int]:
        try:
            return self._where[digest]
        except KeyError:
            raise UserError(f"{self.path}: holds no object {digest.hex()}") from None

    def add(self, content: bytes) -> bytes:
        """Keep one content, compressed when that pays; returns its digest (32 bytes)."""
        digest = hashlib.sha256(content).digest()
        if digest not in self._where:
            kind, payload = _smaller(content)
            self._append(kind, digest, payload)
        return digest

    def add_delta(self, digest: bytes, base: bytes, entries: bytes) -> None:
        """Keep a tree as the entries in which it differs from the tree `base`."""
        if digest not in self._where:
            self._append(DELTA, digest, base + zlib.compress(entries, 1))

    def _append(self, kind: bytes, digest: bytes, payload: bytes) -> None:
        self._write(_HEADER.pack(kind, digest, len(payload)), payload)
        self._where[digest] = (kind, self.size + _HEADER.size, len(payload))
        self.size += _HEADER.size + len(payload)

    def add_stream(self, digest: bytes, length: int, chunks: Iterable[bytes]) -> bool:
        """Keep a large content as it is; False, and nothing kept, when the chunks are not what was announced."""
        if digest in self._where:
            return True
        self._write(_HEADER.pack(RAW, digest, length))
        check, written = hashlib.sha256(), 0
        try:
            for chunk in chunks:
                written += len(chunk)
                if written > length:
                    break
                check.update(chunk)
                self._write(chunk)
        finally:  # also when a chunk cannot be read
            whole = written == length and check.digest() == digest
            if not whole:
                os.ftruncate(self._open(), self.size)
        if not whole:
            return False
        self._where[digest] = (RAW, self.size + _HEADER.size, length)
        self.size += _HEADER.size + length
        return True

    def payload(self, digest: bytes) -> bytes:
        """The bytes as they are kept."""
        _, offset, length = self._at(digest)
        found = bytearray()
        while len(found) < length:
            part = os.pread(self._open(), min(length - len(found), 1 << 30), offset + len(found))
            if not part:
                raise self._damaged("shorter than its headers say")
            found += part
        return bytes(found)

    def content(self, digest: bytes) -> bytes:
        """One content (kinds r and z), checked against its digest."""
        payload = self.payload(digest)
        try:
            content = zlib.decompress(payload) if self.kind(digest) == PACKED else payload
        except zlib.error:
            raise self._damaged(f"object {digest.hex()} does not unpack") from None
        if hashlib.sha256(content).digest() != digest:
            raise self._damaged(f"object {digest.hex()} has other content")
        return content

    def write_to(self, digest: bytes, file: int) -> None:
        """Write one content to an open file; a large one in parts, so that its size is never taken in memory."""
        kind, offset, length = self._at(digest)
        if kind != RAW or length <= _PART:
            _write_all(file, self.content(digest))
            return
        check, end = hashlib.sha256(), offset + length
        while offset < end:
            part = os.pread(self._open(), min(end - offset, _PART), offset)
            if not part:
                raise self._damaged("shorter than its headers say")
            check.update(part)
            _write_all(file, part)
            offset += len(part)
        if check.digest() != digest:
            raise self._damaged(f"object {digest.hex()} has other content")

    def most_bytes(self, digest: bytes) -> int:
        """No less than the length of a content, without reading it."""
        kind, _, length = self._at(digest)
        return length if kind == RAW else length * _RATIO

    def delta(self, digest: bytes) -> tuple[bytes, bytes]:
        """Base digest and differing entries of a tree of kind d."""
        payload = self.payload(digest)
        try:
            return payload[:32], zlib.decompress(payload[32:])
        except zlib.error:
            raise self._damaged(f"tree {digest.hex()} does not unpack") from None

    def close(self) -> None:
        """Close the file; reading opens nothing again. Safe to call twice."""
        if self._file is not None:
            os.close(self._file)
        self._file, self._writable = None, False


def _write_all(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def _smaller(content: bytes) -> tuple[bytes, bytes]:
    """Kind and payload: compressed when it pays."""
    if len(content) < 64:
        return RAW, content
    if len(content) > 4 * _PROBE and len(zlib.compress(content[:_PROBE], 1)) > _WORTH * _PROBE:
        return RAW, content
    packed = zlib.compress(content, 1)
    return (PACKED, packed) if len(packed) <= _WORTH * len(content) else (RAW, content)
