"""PostgreSQL clusters of a test's own, run as an ordinary user in a temporary folder; nothing is mocked."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

BINARIES = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/usr/lib/postgresql/none/bin"))
POOLER = "/usr/sbin/pgbouncer"
NOBODY = 65534
# initdb and postgres refuse to run as root.
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--reset-env"]

SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
max_connections = 250
shared_buffers = 32MB
max_wal_size = 256MB
wal_level = replica
max_wal_senders = 4
hot_standby = on
wal_keep_size = 64MB
dynamic_shared_memory_type = mmap
log_statement = {log_statement}
{more}
"""
TLS_SETTINGS = """
ssl = on
ssl_cert_file = '{folder}/server.crt'
ssl_key_file = '{folder}/server.key'
"""
# A pooler that gives a connection to the server to each transaction, not to each client.
POOLER_SETTINGS = """
[databases]
postgres = host={folder} port={server_port} user=vault

[pgbouncer]
listen_port = {port}
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 200
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def database_url(vault, user, host, port, options):
    query = "&".join(f"{name}={value}" for name, value in options.items())
    return f"postgresql://{user}@{quoted(host)}:{port}/postgres{'?' + query if query else ''}#{vault}"


def quoted(path):
    return str(path).replace("/", "%2F")


def as_nobody(program, *arguments, options=()):
    """The command line of an ordinary user's program. setpriv would report a missing one in its own way."""
    if not shutil.which(program):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(program))
    return [*AS_NOBODY, *options, "--", str(program), *map(str, arguments)]


def make_certificate(folder, name="server"):
    """Makes a self-signed certificate for localhost with its key, both of them owned by the server's user."""
    certificate = Path(folder) / f"{name}.crt"
    done = subprocess.run(
        as_nobody(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2", "-keyout",
            certificate.with_suffix(".key"), "-out", certificate),
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return certificate


def start_server(words, log, is_ready):
    """Starts a server as a direct child, which dies with the test."""
    with open(log, "ab") as file:
        process = subprocess.Popen(
            as_nobody(*words, options=("--pdeathsig", "INT")), stdout=file, stderr=file, stdin=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not is_ready():
        assert process.poll() is None and time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)
    return process


def stop_server(process):
    if process and process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Cluster:
    """A server with a database for vaults."""

    def __init__(self, name="a", folder=None, log_statement="none", more="", has_tls=False):
        self.folder = Path(folder or tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.data = self.folder / name
        self.port = free_port()
        self.log = self.folder / f"{name}.log"
        self.name = name
        self.process = None
        self.certificate = None
        # Whether there are tables for vaults.
        self.has_tables = False
        self.settings = SETTINGS.format(
            port=self.port, folder=self.folder, log_statement=log_statement, more=more)
        os.chmod(self.folder, 0o755)
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
        if has_tls:
            self.certificate = make_certificate(self.folder)
            self.settings += TLS_SETTINGS.format(folder=self.folder)

    def create(self):
        if not BINARIES.is_dir():
            raise FileNotFoundError(errno.ENOENT, "There is no PostgreSQL", "postgres")
        self._run("initdb", "-D", self.data, "-U", "vault", "-A", "trust", "--no-sync", "--no-instructions", "-E",
                  "UTF8", "--locale=C")
        with open(self.data / "postgresql.conf", "a") as file:
            file.write(self.settings)
        return self.start()

    def copy_of(self, primary, slot):
        """Makes this a standby that streams from another cluster."""
        self._run("pg_basebackup", "-h", primary.folder, "-p", primary.port, "-U", "vault", "-D", self.data, "-X",
                  "stream", "-R", "-C", "-S", slot, "-c", "fast", "--no-sync")
        with open(self.data / "postgresql.conf", "a") as file:
            file.write(f"\nport = {self.port}\ncluster_name = '{slot}'\nsynchronous_standby_names = ''\n")
        return self.start()

    def start(self):
        isready = [BINARIES / "pg_isready", "-q", "-h", self.folder, "-p", str(self.port)]
        self.process = start_server(
            [BINARIES / "postgres", "-D", self.data], self.log, lambda: subprocess.run(isready).returncode == 0)
        return self

    def stop(self):
        stop_server(self.process)

    def kill(self):
        """Kills the server and all its processes at once: those left alone might still answer."""
        # It starts no other one meanwhile.
        self.process.send_signal(signal.SIGSTOP)
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.process.kill()
        for pid in children:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        # The next server refuses to start while one of them has the memory of this one.
        while any(is_alive(pid) for pid in children):
            time.sleep(0.002)

    def promote(self):
        self._run("pg_ctl", "-D", self.data, "-w", "promote")

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def sql(self, text, user="vault"):
        """Runs SQL and returns the rows, columns separated by |."""
        return self._psql(user, "-c", text).splitlines()

    def script(self, text):
        """Runs SQL that may have lines for COPY in it, and returns what psql prints."""
        return self._psql("vault", stdin=text)

    def _psql(self, user, *options, stdin=""):
        done = subprocess.run(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-p", str(self.port), "-U", user,
             "-d", "postgres", *options], capture_output=True, text=True, input=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def hold(self, text):
        """Begins a transaction with SQL, and returns the client, whose end rolls it back."""
        client = subprocess.Popen(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-p", str(self.port), "-U", "vault",
             "-d", "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        client.stdin.write(f"BEGIN;\n{text};\n\\echo held\n")
        client.stdin.flush()
        while (line := client.stdout.readline()) != "held\n":
            assert line, "psql has ended"
        return client

    def wait_until_idle(self, application="vault"):
        """Waits until the server has finished what killed clients have left it with."""
        self.sql(
            "DO $$ BEGIN WHILE EXISTS (SELECT FROM pg_stat_activity WHERE application_name = "
            f"'{application}') LOOP PERFORM pg_sleep(0.002), pg_stat_clear_snapshot(); END LOOP; END $$")

    def end_sessions(self, application="vault"):
        """Ends the sessions of its clients, wherever they are."""
        self.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{application}'")

    def url(self, vault="team", user="vault", host=None, **options):
        return database_url(vault, user, host or self.folder, self.port, options)

    def tls_url(self, vault="team", user="vault", certificate=None):
        """Over TLS, where the server has to prove itself by this certificate."""
        root = quoted(certificate or self.certificate)
        return self.url(vault, user, "localhost", sslmode="verify-full", sslrootcert=root)

    def ask_for_password(self, role, password):
        """Creates a role that has to log in with a password, wherever it connects from."""
        self.sql(f"CREATE ROLE {role} LOGIN SUPERUSER PASSWORD '{password}'")
        self.put_first(f"local all {role} scram-sha-256\nhost all {role} all scram-sha-256")

    def ask_for_ticket(self, role):
        """Creates a role that has to log in with Kerberos."""
        self.sql(f"CREATE ROLE {role} LOGIN SUPERUSER")
        self.put_first(f"host all {role} all gss include_realm=0")

    def put_first(self, lines):
        """Puts rules of who may log in how before the others."""
        rules = self.data / "pg_hba.conf"
        rules.write_text(f"{lines}\n{rules.read_text()}")
        self.reload()

    def reload(self):
        """Lets the server read its settings again, and waits until it has."""
        before = self.sql("SELECT pg_conf_load_time()")
        self.sql("SELECT pg_reload_conf()")
        while self.sql("SELECT pg_conf_load_time()") == before:
            time.sleep(0.01)

    def _run(self, program, *arguments):
        done = subprocess.run(
            as_nobody(BINARIES / program, *arguments), capture_output=True, text=True, cwd="/")
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"


class Pooler:
    """pgbouncer before a cluster. Each transaction gets any connection to the server that is free: nothing lasts from
    one to the next."""

    def __init__(self, cluster, pool_size=20):
        self.folder, self.port = cluster.folder, free_port()
        settings = self.folder / f"pgbouncer-{self.port}.ini"
        settings.write_text(POOLER_SETTINGS.format(
            folder=self.folder, port=self.port, server_port=cluster.port, pool_size=pool_size))
        socket_path = self.folder / f".s.PGSQL.{self.port}"
        self.log = settings.with_suffix(".log")
        self.process = start_server([POOLER, settings], self.log, socket_path.exists)

    def url(self, vault="team"):
        return database_url(vault, "vault", self.folder, self.port, {})

    @contextmanager
    def session(self, sql):
        """A client that runs SQL and stays connected."""
        process = subprocess.Popen(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p", str(self.port), "-U", "vault", "-d",
             "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            process.stdin.write(f"{sql};\n\\echo done\n")
            process.stdin.flush()
            while (line := process.stdout.readline()) != "done\n":
                assert line, "psql has ended"
            yield
        finally:
            process.communicate()

    def stop(self):
        stop_server(self.process)
