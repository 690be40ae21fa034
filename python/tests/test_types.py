import subprocess
import sys
from pathlib import Path

CONFIGURATION = str(Path(__file__).parent.parent / "pyproject.toml")


def said(tmp_path, *command):
    ended = subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True)
    return ended.returncode, ended.stdout + ended.stderr


def test_the_package_holds_to_its_types(tmp_path):
    code, text = said(tmp_path, "mypy", "--config-file", CONFIGURATION, "-p", "tessera")
    assert code == 0, text


def test_stubs_are_those_of_the_native_part(tmp_path):
    code, text = said(tmp_path, "mypy.stubtest", "--mypy-config-file", CONFIGURATION, "tessera._native")
    assert code == 0, text


def test_calls_with_wrong_types_are_found(tmp_path):
    (tmp_path / "wrong.py").write_text("from tessera import CoverTreeNeighbors\nCoverTreeNeighbors(n_neighbors='five')\n")
    code, text = said(tmp_path, "mypy", "--config-file", CONFIGURATION, "wrong.py")
    assert code == 1 and 'has incompatible type "str"; expected "int"' in text
