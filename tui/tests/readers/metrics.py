"""Reads metrics by Prometheus' own parser of OpenMetrics.

Prints each sample: its name, its labels but the host's, its value.
"""

import sys

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

with open(sys.argv[1]) as file:
    for family in text_string_to_metric_families(file.read()):
        for sample in family.samples:
            labels = [f"{name}={of}" for name, of in sample.labels.items() if name != "hostname"]
            print(sample.name, *labels, f"{sample.value:.0f}")
