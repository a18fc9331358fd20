"""Fetches the JavaScript libraries of the pages: downloads the packages of libraries.txt and extracts the libraries.

    fetch_libraries.py FOLDER [PIP_OPTION...]     writes the libraries into FOLDER

pip verifies the packages by their hashes.
"""

import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
APACHE_LICENSE = pathlib.Path("/usr/share/common-licenses/Apache-2.0")  # Debian's base-files

# Library, package, file in the package, and a line to append: uPlot is no module.
FILES = (
    ("uplot.js", "youplot", "youplot/vendor/uplot.iife.min.js", "export default uPlot;\n"),
    ("uplot.css", "youplot", "youplot/vendor/uplot.min.css", ""),
    ("dagre.js", "netron", "netron/dagre.js", ""),
    ("echarts.js", "nicegui", "nicegui/elements/echart/dist/index-DlVyZyb_.js", ""),
)


def download(folder: pathlib.Path, options: list[str]) -> None:
    """Downloads the packages into a folder."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *options]
    subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", HERE / "libraries.txt", "-d", folder], check=True)


def extract(packages: pathlib.Path, folder: pathlib.Path) -> None:
    """Writes the libraries without the names of their source maps, which are not served."""
    for name, package, path, more in FILES:
        with zipfile.ZipFile(next(packages.glob(f"{package}-*.whl"))) as archive:
            text = archive.read(path).decode()
        lines = [line for line in text.splitlines() if not line.startswith("//# sourceMappingURL=")]
        (folder / name).write_text("\n".join(lines) + "\n" + more)


def write_licenses(folder: pathlib.Path) -> None:
    """Writes the licences of all libraries into one file."""
    apache = APACHE_LICENSE.read_text() if APACHE_LICENSE.exists() else "https://www.apache.org/licenses/LICENSE-2.0\n"
    (folder / "licenses.txt").write_text((HERE / "licenses.txt").read_text() + apache)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as packages:
        download(pathlib.Path(packages), sys.argv[2:])
        extract(pathlib.Path(packages), folder)
    write_licenses(folder)


if __name__ == "__main__":
    main()
