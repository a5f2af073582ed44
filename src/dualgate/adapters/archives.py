"""Archives on disk: a folder of files, or one .zip of them [P3].

Rule: all or nothing. A folder is made beside its place and moved there whole; a reader takes no
more than the files it knows and no file larger than LIMIT_BYTES unpacked.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from dualgate.errors import InvalidInputError

FILES_LIMIT = 64
LIMIT_BYTES = 4 * 1024**3


class DiskArchives:
    """Implements pipeline.exporting.Archives."""

    def write(self, path: str, files: Mapping[str, bytes]) -> None:
        """Write all files or nothing; only this user of the machine may read them."""
        try:
            place = Path(path).expanduser()
            if place.exists() and not (place.is_dir() and not any(place.iterdir())):
                raise InvalidInputError("path", "is taken: name a new folder or .zip file", path)
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.suffix.lower() == ".zip":
                _write_zip(place, files)
            else:
                _write_folder(place, files)
        # RuntimeError: "~somebody" of whom no home is known.
        except (OSError, RuntimeError) as error:
            raise InvalidInputError("path", f"cannot be written: {error}", path) from error

    def read(self, path: str) -> dict[str, bytes]:
        """Return all files by name."""
        try:
            place = Path(path).expanduser()
            if place.is_dir():
                return _read_folder(place)
            if zipfile.is_zipfile(place):
                return _read_zip(place)
            there = place.exists()
        except (OSError, zipfile.BadZipFile, RuntimeError) as error:
            raise InvalidInputError("path", f"cannot be read: {error}", path) from error
        rule = "must be a folder or .zip that `export` wrote"
        raise InvalidInputError("path", rule if there else f"{rule}; none is there", path)


def _write_folder(place: Path, files: Mapping[str, bytes]) -> None:
    made = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))  # mode 0700
    try:
        for name, data in files.items():
            _write_file(made / name, data)
        if place.exists():
            place.rmdir()
        made.replace(place)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _write_zip(place: Path, files: Mapping[str, bytes]) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{place.name}-", dir=place.parent)  # mode 0600
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
                for file, data in files.items():
                    packed.writestr(file, data)
            out.flush()
            os.fsync(out.fileno())
        made.replace(place)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def _write_file(path: Path, data: bytes) -> None:
    with path.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    path.chmod(0o600)


def _read_folder(place: Path) -> dict[str, bytes]:
    found = [one for one in place.iterdir() if one.is_file() and not one.name.startswith(".")]
    _require_small(len(found), sum(one.stat().st_size for one in found))
    return {one.name: one.read_bytes() for one in found}


def _read_zip(place: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(place) as packed:
        told = [one for one in packed.infolist() if not one.is_dir()]
        _require_small(len(told), sum(one.file_size for one in told))
        return {Path(one.filename).name: packed.read(one) for one in told}


def _require_small(files: int, size: int) -> None:
    if files > FILES_LIMIT or size > LIMIT_BYTES:
        raise InvalidInputError("path", "holds too much to be an archive of dualgate")
