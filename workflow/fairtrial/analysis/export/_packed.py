"""What is packed in a file, for the scan for secrets: snapshot packs, git objects and packs, archives, tables."""

from __future__ import annotations

import bz2
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

MOST_UNPACKED = 512 << 20
DEEPEST = 4  # a zip within a git object within a snapshot pack
PIECE = 1 << 16
_OFFSET_DELTA, _NAMED_DELTA = 6, 7


def views(content: bytes, deep: int = DEEPEST) -> Iterator[bytes]:
    """The content and everything packed in it; what cannot be unpacked is only seen as it is."""
    yield content
    if deep:
        for inner in _opened(content):
            yield from views(inner, deep - 1)


def _opened(content: bytes) -> Iterator[bytes]:
    for magic, opener in _OPENERS:
        if content.startswith(magic):
            yield from opener(content)
            return
    if content[:1] == b"\x78" and int.from_bytes(content[:2], "big") % 31 == 0:  # zlib, such as a loose git object
        yield from _streams(content, zlib.decompressobj)


def _streams(content: bytes, make: Callable[[], Any]) -> Iterator[bytes]:
    """Compressed streams one after another, as gzip and xz files may hold; a torn one gives what it holds."""
    while content:
        stream, parts = make(), []
        try:
            parts.append(stream.decompress(content, MOST_UNPACKED))
        except (zlib.error, OSError, EOFError, lzma.LZMAError):
            return
        yield b"".join(parts)
        content = stream.unused_data if stream.eof else b""


def _snapshots(content: bytes) -> Iterator[bytes]:
    """Objects of a snapshot pack (instruments/snapshots/pack.py): whole ones, and deltas with their literal parts."""
    header, at = struct.Struct(">c32sQ"), 8
    while at + header.size <= len(content):
        kind, _, length = header.unpack_from(content, at)
        at += header.size
        payload = content[at : at + length]
        at += length
        if kind in (b"z", b"d"):
            yield from _streams(payload[32:] if kind == b"d" else payload, zlib.decompressobj)
        else:
            yield payload


def _git_pack(content: bytes) -> Iterator[bytes]:
    """Objects of a git pack; of a delta its instructions, which hold what is new as it is."""
    at = 12
    for _ in range(int.from_bytes(content[8:12], "big")):
        if at >= len(content):
            return
        kind, at = (content[at] >> 4) & 7, _after_number(content, at)
        at = _after_number(content, at) if kind == _OFFSET_DELTA else at + 20 * (kind == _NAMED_DELTA)
        stream, parts = zlib.decompressobj(), []
        try:
            while not stream.eof and at < len(content):
                parts.append(stream.decompress(content[at : at + PIECE]))
                at += PIECE
        except zlib.error:
            return
        at -= len(stream.unused_data) + max(0, at - len(content)) if stream.eof else 0
        yield b"".join(parts)


def _after_number(content: bytes, at: int) -> int:
    """Behind a number whose last byte has no high bit."""
    while at < len(content) and content[at] & 0x80:
        at += 1
    return at + 1


def _zip(content: bytes) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.infolist():
                if entry.file_size <= MOST_UNPACKED:
                    yield archive.read(entry)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError, EOFError):
        return  # torn or encrypted: its names were seen


def _parquet(content: bytes) -> Iterator[bytes]:
    """The texts of a table, column by column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError):
        return
    for column in table.columns:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            texts = (text for text in column.unique().to_pylist() if text)
            yield "\n".join(texts).encode("utf-8", "replace")


_OPENERS: tuple[tuple[bytes, Callable[[bytes], Iterator[bytes]]], ...] = (
    (b"ftpack1\n", _snapshots),
    (b"\x1f\x8b", lambda content: _streams(content, lambda: zlib.decompressobj(31))),
    (b"BZh", lambda content: _streams(content, bz2.BZ2Decompressor)),
    (b"\xfd7zXZ\0", lambda content: _streams(content, lzma.LZMADecompressor)),
    (b"PK\x03\x04", _zip),
    (b"PACK", _git_pack),
    (b"PAR1", _parquet),
)
