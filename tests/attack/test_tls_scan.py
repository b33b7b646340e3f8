"""A scan of what the server offers: every protocol and every cipher suite that OpenSSL knows is tried. What sslyze calls
compliant with Mozilla's "intermediate" settings is the measure. SPDX-License-Identifier: Apache-2.0
"""

import re
import socket
import ssl
import subprocess

import pytest

from weir_harness import DEADLINE_S, Weir

GOOD = {
    "TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305",
}
GROUPS = {"X25519", "prime256v1", "secp384r1"}


@pytest.fixture(scope="module")
def weir():
    weir = Weir(args=["--slots", "1"])
    try:
        weir.weir("tls", "init", "--dir", weir.dir)
        yield weir.start()
    finally:
        weir.close()


def openssl(weir, *args, input=""):
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{weir.port}", *args]
    return subprocess.run(command, input=input, capture_output=True, text=True, timeout=DEADLINE_S)


def talks(weir, context):
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with socket.create_connection(("127.0.0.1", weir.port), timeout=DEADLINE_S) as plain:
            with context.wrap_socket(plain) as sock:
                return sock.cipher()[0], sock.compression()
    except (ssl.SSLError, ConnectionError):
        return None


def context_of(version, ciphers):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_ciphers(ciphers)
    context.minimum_version = context.maximum_version = version
    return context


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_only_strong_suites_of_new_protocols_are_taken(weir):
    known = [c["name"] for c in context_of(ssl.TLSVersion.TLSv1_2, "ALL:COMPLEMENTOFALL:@SECLEVEL=0").get_ciphers()]
    old = [name for name in known if not name.startswith("TLS_")]
    assert len(old) > 60
    taken = {n for n in old if talks(weir, context_of(ssl.TLSVersion.TLSv1_2, n + ":@SECLEVEL=0"))}
    assert taken == {n for n in GOOD if not n.startswith("TLS_")}
    assert talks(weir, context_of(ssl.TLSVersion.TLSv1_3, "ALL"))[0] in GOOD
    assert talks(weir, context_of(ssl.TLSVersion.TLSv1_2, "ALL"))[1] is None, "compression"
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        assert talks(weir, context_of(version, "ALL:COMPLEMENTOFALL:@SECLEVEL=0")) is None


def test_weak_groups_are_refused(weir):
    groups = ["X25519", "prime256v1", "secp384r1", "secp521r1", "X448", "ffdhe2048", "ffdhe3072"]
    taken = {g for g in groups if "Cipher is TLS_" in openssl(weir, "-tls1_3", "-groups", g).stdout}
    assert taken == GROUPS


def test_a_client_cannot_renegotiate_nor_resume_nor_send_early(weir):
    renegotiated = openssl(weir, "-tls1_2", input="R\n")
    assert "RENEGOTIATING" in renegotiated.stderr + renegotiated.stdout
    assert renegotiated.returncode != 0 or "no renegotiation" in renegotiated.stderr
    again = openssl(weir, "-tls1_2", "-reconnect")
    assert len(re.findall(r"^New, ", again.stdout, re.M)) == 6 and "Reused, " not in again.stdout
    assert "Max Early Data: 0" in (out := openssl(weir, "-tls1_3").stdout) or "Max Early Data" not in out


def test_the_certificate_is_what_a_scanner_wants(weir):
    text = subprocess.run(["openssl", "x509", "-noout", "-text", "-in", weir.dir / "tls/server.pem"],
                          capture_output=True, text=True, check=True).stdout
    assert "ecdsa-with-SHA256" in text and "NIST CURVE: P-256" in text
    assert "CA:FALSE" in text and "TLS Web Server Authentication" in text and "Digital Signature" in text
    verified = subprocess.run(
        ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", weir.dir / "tls/ca.pem",
         weir.dir / "tls/server.pem"], capture_output=True, text=True)
    assert verified.returncode == 0, verified.stderr + verified.stdout
