"""Reads requests of OTLP in JSON, one per line, with the protocol's own messages, and tells what
was in them. Names that the protocol does not have are errors."""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = ("traceId", "spanId", "parentSpanId")


def with_ids(value):
    """OTLP writes ids in hexadecimal; the JSON of protocol buffers has bytes in base 64."""
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(item)).decode() if key in IDS else with_ids(item)
            for key, item in value.items()
        }
    return [with_ids(item) for item in value] if isinstance(value, list) else value


spans, metrics = [], {}
for line in sys.stdin:
    request = json.loads(line)
    kind = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}[request["path"]]
    message = json_format.ParseDict(with_ids(request["body"]), kind(), ignore_unknown_fields=False)
    # As a collector would pass it on.
    message = kind.FromString(message.SerializeToString())
    for resource in getattr(message, "resource_spans", []):
        for scope in resource.scope_spans:
            spans += [[s.trace_id.hex(), s.span_id.hex(), s.parent_span_id.hex(), s.name] for s in scope.spans]
    for resource in getattr(message, "resource_metrics", []):
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                points = getattr(metric, metric.WhichOneof("data")).data_points
                if metric.HasField("histogram"):
                    value = sum(point.count for point in points)
                else:
                    value = sum(getattr(point, point.WhichOneof("value")) for point in points)
                metrics[metric.name] = metrics.get(metric.name, 0) + value
print(json.dumps({"spans": spans, "metrics": metrics}))
