"""A Dask scheduler and its workers as processes on the loopback."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

FAULTY = Path(__file__).parent / "faulty_worker.py"


def free_port():
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


class Cluster:
    """Its workers do wrong what `fault` says."""

    def __init__(self, folder, workers=2):
        self.folder, self.faults = Path(folder), Path(folder) / "faults"
        self.faults.mkdir(parents=True)
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.n_workers = workers
        self.processes = []
        self.start()

    def _run(self, *command):
        environment = os.environ | {"TESSERA_TEST_FAULTS": str(self.faults), "RAYON_NUM_THREADS": "1", "PYTHONPATH": str(FAULTY.parent)}
        log = open(self.folder / "log.txt", "ab")
        started = subprocess.Popen([sys.executable, "-m", *command], cwd=self.folder, env=environment, stdout=log, stderr=log)
        log.close()
        self.processes.append(started)
        return started

    def start(self):
        """Starts the scheduler and the workers; these are restarted when they die."""
        self._run("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show")
        for _ in range(self.n_workers):
            self.start_worker()

    def start_worker(self):
        return self._run(
            "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1",
            "--local-directory", str(self.folder / "workers"), "--preload", str(FAULTY), "--death-timeout", "60",
        )

    def fault(self, kind, times=1):
        for i in range(times):
            (self.faults / f"{kind}-{time.monotonic_ns()}-{i}").touch()

    def heal(self):
        for file in self.faults.iterdir():
            file.unlink()

    def left(self, kind):
        return sum(file.name.split("-")[0] == kind for file in self.faults.iterdir())

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()
