"""Certificates for tests, made with openssl."""

import subprocess

from pipeline import TIMEOUT_S

NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=TIMEOUT_S)


class Authority:
    """A certificate authority. Writes FOLDER/NAME.pem and NAME.key, its own and those of the certificates that it
    issues.
    """

    def __init__(self, folder, name):
        self.folder = folder
        self.certificate = folder / f"{name}.pem"
        self.key = folder / f"{name}.key"
        openssl("req", "-x509", *NEW_KEY, "-keyout", self.key, "-out", self.certificate, "-days", "2",
                "-subj", "/CN=authority")

    def issue(self, name):
        """Issues a certificate for this machine, with the names localhost and 127.0.0.1."""
        request, names = self.folder / f"{name}.csr", self.folder / "names"
        names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("req", *NEW_KEY, "-keyout", self.folder / f"{name}.key", "-out", request, "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                "-out", self.folder / f"{name}.pem", "-days", "1", "-extfile", names)
