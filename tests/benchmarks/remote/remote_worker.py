"""A worker of BuildGrid for remote_build.py: takes actions from the server, runs them, and gives it their outputs.

    remote_worker.py ADDRESS FOLDER

BuildGrid's package has the server alone; this has what the benchmark needs of a worker, one action at a time. Inputs are
fetched once and linked into a folder for each action.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import uuid

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as execution
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc
from buildgrid._protos.google.rpc import status_pb2
from buildgrid.server.client.cas import download, upload

LIMITS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Worker:
    def __init__(self, address, folder):
        self.channel = grpc.insecure_channel(address, LIMITS)
        self.blobs, self.work = folder / "blobs", folder / "work"
        self.blobs.mkdir(parents=True)

    def blob(self, digest):
        """The file of that content, fetched if it is not here."""
        path = self.blobs / digest.hash
        if not path.exists():
            with download(self.channel) as source:
                source.download_file(digest, str(path), is_executable=True, queue=False)
        return path

    def message(self, digest, message):
        message.ParseFromString(self.blob(digest).read_bytes())
        return message

    def stage(self, digest, folder):
        folder.mkdir(parents=True)
        directory = self.message(digest, execution.Directory())
        for file in directory.files:
            os.link(self.blob(file.digest), folder / file.name)
        for link in directory.symlinks:
            os.symlink(link.target, folder / link.name)
        for child in directory.directories:
            self.stage(child.digest, folder / child.name)

    def run(self, payload):
        action = execution.Action()
        payload.Unpack(action)
        command = self.message(action.command_digest, execution.Command())
        shutil.rmtree(self.work, ignore_errors=True)
        self.stage(action.input_root_digest, self.work)
        start = self.work / command.working_directory
        outputs = list(command.output_paths) or [*command.output_files, *command.output_directories]
        for output in outputs:
            (start / output).parent.mkdir(parents=True, exist_ok=True)
        environment = {variable.name: variable.value for variable in command.environment_variables}
        done = subprocess.run(list(command.arguments), cwd=start, env=environment, capture_output=True)
        result = execution.ActionResult(exit_code=done.returncode, stdout_raw=done.stdout, stderr_raw=done.stderr)
        with upload(self.channel) as target:
            for output in outputs:
                if (start / output).is_file():
                    result.output_files.add(
                        path=output, digest=target.upload_file(str(start / output), queue=False),
                        is_executable=os.access(start / output, os.X_OK))
                elif (start / output).is_dir():
                    result.output_directories.add(
                        path=output, tree_digest=target.upload_directory(str(start / output), queue=False))
        return result

    def serve(self):
        bots = bots_pb2_grpc.BotsStub(self.channel)
        session = bots_pb2.BotSession(bot_id=str(uuid.uuid4()), status=bots_pb2.OK)
        session.worker.devices.add(handle="machine")
        session = bots.CreateBotSession(bots_pb2.CreateBotSessionRequest(parent="", bot_session=session), timeout=60)
        while True:
            for lease in session.leases:
                if lease.state in (bots_pb2.PENDING, bots_pb2.ACTIVE):
                    lease.result.Pack(self.run(lease.payload))
                    lease.status.CopyFrom(status_pb2.Status(code=0))
                    lease.state = bots_pb2.COMPLETED
            request = bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session)
            session = bots.UpdateBotSession(request, timeout=60)


Worker(sys.argv[1], pathlib.Path(sys.argv[2])).serve()
