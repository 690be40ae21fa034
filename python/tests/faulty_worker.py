"""Loaded by the workers of tests: what a file in a folder says goes wrong with the next call."""

import os
import signal
import threading
import time

import tessera.distributed._workers as workers

FOLDER = os.environ["TESSERA_TEST_FAULTS"]


def take(kind):
    """Whether there is such a fault left; it is used up."""
    for name in sorted(os.listdir(FOLDER)):
        if name.split("-")[0] == kind:
            try:
                os.remove(os.path.join(FOLDER, name))
                return True
            except FileNotFoundError:
                pass
    return False


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def faulty(real):
    def call(*arguments):
        if take("hang"):
            time.sleep(3600)
        if take("kill"):
            die()
        slow = os.path.join(FOLDER, "slow")
        if os.path.exists(slow):
            with open(slow) as file:
                time.sleep(float(file.read() or 0.3))
        if take("killmiddle"):
            threading.Timer(0.002, die).start()
        if take("killafter"):
            threading.Timer(0.1, die).start()
        version, limit = workers.VERSION, None
        if take("version"):
            workers.VERSION = "0.0.9"
        if take("full"):
            import resource

            limit = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
        try:
            return real(*arguments)
        finally:
            workers.VERSION = version
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    return call


workers.make_state = faulty(workers.make_state)
workers.make_shard = faulty(workers.make_shard)
