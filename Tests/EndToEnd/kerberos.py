"""A Kerberos realm of a test's own: its key distribution centre, in a temporary folder."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from homes import NOBODY
from postgres import free_port, start_server, stop_server

CLIENT_SETTINGS = """
[libdefaults]
default_realm = VAULT.TEST
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
[realms]
VAULT.TEST = {{
    kdc = 127.0.0.1:{port}
}}
"""
CENTRE_SETTINGS = """
[kdcdefaults]
kdc_listen = 127.0.0.1:{port}
kdc_tcp_listen = 127.0.0.1:{port}
[realms]
VAULT.TEST = {{
    database_name = {folder}/principals
    key_stash_file = {folder}/stash
}}
"""


class Realm:
    """One service, whose key is in a file, and one person, who has a password."""

    def __init__(self, service: str, person: str, password: str):
        self.folder = Path(tempfile.mkdtemp(prefix="krb-", dir="/tmp"))
        settings, centre, log = (self.folder / name for name in ("krb5.conf", "kdc.conf", "log"))
        port = free_port()
        settings.write_text(CLIENT_SETTINGS.format(port=port))
        centre.write_text(CENTRE_SETTINGS.format(port=port, folder=self.folder))
        self.person, self.password = person, password
        self.keytab = self.folder / "keytab"
        self.variables = {"KRB5_CONFIG": str(settings)}
        environment = self.variables | {"KRB5_KDC_PROFILE": str(centre)}
        for words in (
            ["kdb5_util", "create", "-s", "-P", "master"],
            ["kadmin.local", "addprinc", "-randkey", service],
            ["kadmin.local", "ktadd", "-k", self.keytab, service],
            ["kadmin.local", "addprinc", "-pw", password, person],
        ):
            done = subprocess.run(words, env=os.environ | environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        for path in (self.folder, *self.folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        self.folder.chmod(0o755)
        self.process = start_server(
            ["env", *(f"{name}={value}" for name, value in environment.items()), "/usr/sbin/krb5kdc", "-n"], log,
            lambda: "krb5kdc: starting" in log.read_text())

    def ticket(self, cache: Path) -> dict[str, str]:
        """Logs the person in, and returns the variables with which programs find the ticket."""
        variables = self.variables | {"KRB5CCNAME": f"FILE:{cache}"}
        subprocess.run(["kinit", self.person], input=self.password.encode(), env=os.environ | variables, check=True,
                       capture_output=True)
        return variables

    def remove(self) -> None:
        stop_server(self.process)
        shutil.rmtree(self.folder)
