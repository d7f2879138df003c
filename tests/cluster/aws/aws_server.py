"""AWS for the tests: moto, behind a front for what it lacks: capacity reservations with room in some zones only,
EC2's quotas, EKS's versions, and the protection of stacks.

    aws_server.py ZONE_WITH_ROOM...      prints "port N" once it serves, on loopback
"""

import io
import json
import logging
import sys
import threading
import urllib.parse

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

XML = '<?xml version="1.0" encoding="UTF-8"?>'
EC2 = "http://ec2.amazonaws.com/doc/2016-11-15/"
VERSIONS = [
    {"clusterVersion": "1.36", "clusterType": "eks", "defaultVersion": True, "status": "standard-support",
     "versionStatus": "STANDARD_SUPPORT", "endOfStandardSupportDate": 1814400000},
    {"clusterVersion": "1.34", "clusterType": "eks", "defaultVersion": False, "status": "extended-support",
     "versionStatus": "EXTENDED_SUPPORT", "endOfStandardSupportDate": 1796169600},
]
QUOTAS = {"L-DB2E81BA": 96.0, "L-417A185B": 0.0, "L-1216C47A": 64.0}


class Front:
    """WSGI: answers what moto lacks, and passes the rest on."""

    def __init__(self, zones_with_room):
        self.zones_with_room = zones_with_room
        self.reservations = []
        self.lock = threading.Lock()
        self.server = DomainDispatcherApplication(create_backend_app)

    def __call__(self, environ, start_response):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length)
        environ["wsgi.input"] = io.BytesIO(body)
        with self.lock:
            answer = self.answer(environ, body)
        if answer is None:
            return self.server(environ, start_response)
        status, content_type, text = answer
        start_response(status, [("Content-Type", content_type), ("Content-Length", str(len(text.encode())))])
        return [text.encode()]

    def answer(self, environ, body):
        if environ["PATH_INFO"] == "/cluster-versions":
            return "200 OK", "application/json", json.dumps({"clusterVersions": VERSIONS})
        if environ.get("HTTP_X_AMZ_TARGET") == "ServiceQuotasV20190624.GetServiceQuota":
            code = json.loads(body)["QuotaCode"]
            return ("200 OK", "application/x-amz-json-1.1",
                    json.dumps({"Quota": {"QuotaCode": code, "Value": QUOTAS[code]}}))
        fields = {name: values[0] for name, values in urllib.parse.parse_qs(body.decode("utf8", "replace")).items()}
        action = {
            "CreateCapacityReservation": self.create,
            "DescribeCapacityReservations": self.describe,
            "CancelCapacityReservation": self.cancel,
            "UpdateTerminationProtection": self.protect,
        }.get(fields.get("Action"))
        return action(fields) if action else None

    @staticmethod
    def ec2(action, inner):
        return ("200 OK", "text/xml",
                f'{XML}<{action}Response xmlns="{EC2}"><requestId>r</requestId>{inner}</{action}Response>')

    @staticmethod
    def error(status, code, message):
        return (status, "text/xml",
                f"{XML}<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
                "<RequestID>r</RequestID></Response>")

    def create(self, fields):
        zone, kind = fields["AvailabilityZone"], fields["InstanceType"]
        if zone not in self.zones_with_room:
            named = ", ".join(self.zones_with_room)
            choose = f" You can currently get {kind} capacity by choosing {named}." if named else ""
            return self.error(
                "500 Internal Server Error", "InsufficientInstanceCapacity",
                f"We currently do not have sufficient {kind} capacity in the Availability Zone you requested ({zone}). "
                f"Our system will be working on provisioning additional capacity.{choose}")
        reservation = {
            "capacityReservationId": f"cr-{len(self.reservations) + 1:017x}", "state": "active",
            "availabilityZone": zone, "availabilityZoneId": "use2-az" + zone[-1], "instanceType": kind,
            "instancePlatform": fields["InstancePlatform"], "totalInstanceCount": fields["InstanceCount"],
            "availableInstanceCount": fields["InstanceCount"], "instanceMatchCriteria": fields["InstanceMatchCriteria"],
            "endDateType": fields["EndDateType"], "endDate": fields["EndDate"],
        }
        tags = {fields["TagSpecifications.1.Tag.1.Key"]: fields["TagSpecifications.1.Tag.1.Value"]}
        self.reservations.append((reservation, tags))
        return self.ec2("CreateCapacityReservation",
                        f"<capacityReservation>{self.xml(reservation)}</capacityReservation>")

    def describe(self, fields):
        wanted = fields.get("CapacityReservationId.1")
        found = []
        for reservation, tags in self.reservations:
            if wanted and reservation["capacityReservationId"] != wanted:
                continue
            name = fields.get("Filter.1.Name", "").removeprefix("tag:")
            if name and tags.get(name) != fields["Filter.1.Value.1"]:
                continue
            found.append(f"<item>{self.xml(reservation)}</item>")
        if wanted and not found:
            return self.error("400 Bad Request", "InvalidCapacityReservationId.NotFound",
                              f"The capacity reservation ID '{wanted}' does not exist")
        return self.ec2("DescribeCapacityReservations",
                        f"<capacityReservationSet>{''.join(found)}</capacityReservationSet>")

    def cancel(self, fields):
        for reservation, _ in self.reservations:
            if reservation["capacityReservationId"] == fields["CapacityReservationId"]:
                reservation["state"] = "cancelled"
        return self.ec2("CancelCapacityReservation", "<return>true</return>")

    @staticmethod
    def protect(fields):
        return ("200 OK", "text/xml",
                '<UpdateTerminationProtectionResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">'
                f"<UpdateTerminationProtectionResult><StackId>{fields['StackName']}</StackId>"
                "</UpdateTerminationProtectionResult></UpdateTerminationProtectionResponse>")

    @staticmethod
    def xml(fields):
        return "".join(f"<{name}>{value}</{name}>" for name, value in fields.items())


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, Front(sys.argv[1:]), threaded=True)
    print(f"port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
