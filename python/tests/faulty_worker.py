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


armed = threading.local()
"""Whether the call of this thread ends its worker once it has read something."""


def mortal(real):
    def read(*arguments):
        found = real(*arguments)
        if getattr(armed, "now", False):
            die()
        return found

    return read


def faulty(real):
    def call(*arguments):
        if take("hang"):
            time.sleep(3600)
        if take("kill"):
            die()
        if take("stop"):
            os.kill(os.getpid(), signal.SIGSTOP)
        if take("lacking"):
            raise ModuleNotFoundError("no s3fs here")
        slow = os.path.join(FOLDER, "slow")
        if os.path.exists(slow):
            with open(slow) as file:
                time.sleep(float(file.read() or 0.3))
        armed.now = take("killmiddle")
        version, limit = workers.VERSION, None
        if take("version"):
            workers.VERSION = "0.0.9"
        if take("full"):
            import resource

            limit = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
        try:
            result = real(*arguments)
            if take("killafter"):
                # The result is on its way then, or is still here.
                threading.Timer(0.005, die).start()
            return result
        finally:
            workers.VERSION = version
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    return call


workers.call = faulty(workers.call)
workers.read_shard = mortal(workers.read_shard)
workers._held = mortal(workers._held)
