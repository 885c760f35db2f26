"""A page of dp_cdp.report: what is in it, and in a headless Chromium what is seen of it.

    report_page.py CHROMIUM WORK NAME=FILE...     CHROMIUM '' where there is none

Prints what DriverTest.pm reads. NAME tells what to expect: "registry" is the page
of demo/history.sql, "hostile" has names that are markup and would ask the network. This
program is the browser's proxy, for all addresses: whoever is asked for is seen, and
nothing leaves the machine.
"""
import html
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
import zlib

from dptap import Tap

XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


class Page(Tap):
    def __init__(self):
        self.n = 0


tap = Page()


def text_of(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


# ---------------------------------------------------------------------------
# what is in the file
# ---------------------------------------------------------------------------

def colours(css):
    """custom properties, light, dark and printed"""
    light = dict(re.findall(r"--([\w-]+): (#\w+)", css.split("@media")[0]))
    dark = dict(re.findall(r"--([\w-]+): (#\w+)", re.search(r"prefers-color-scheme: dark\)(.*?)\} \}", css, re.S).group(1)))
    printed = dict(re.findall(r"--([\w-]+): (#\w+)", re.search(r"@media print(.*)", css, re.S).group(1)))
    return light, dark, printed


def luminance(colour):
    colour = colour.lstrip("#")
    if len(colour) == 3:
        colour = "".join(c * 2 for c in colour)
    parts = [int(colour[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    a, b = sorted((luminance(a), luminance(b)), reverse=True)
    return (a + 0.05) / (b + 0.05)


TEXT = [("ink", "page"), ("ink", "card"), ("soft", "page"), ("soft", "card"), ("blue", "page"), ("blue", "card"), ("ink", "track"),
        ("ink", "red-wash"), ("ink", "amber-wash"), ("ink", "green-wash"), ("red", "red-wash"), ("amber", "amber-wash")]
FIGURES = [("blue", "card"), ("red", "card"), ("amber", "card"), ("soft", "card"), ("blue", "track"), ("red", "track"), ("amber", "track"),
           ("blue", "wash"), ("soft", "track")]


def check_file(name, data):
    try:
        root = ET.fromstring(data)
    except ET.ParseError as error:
        tap.ok(False, f"{name}: well-formed XML", error)
        return None
    tap.ok(True, f"{name}: well-formed XML")
    elements = list(root.iter())
    names = {e.tag.split("}")[1] for e in elements}
    tap.equal(sorted(names & {"script", "img", "image", "link", "iframe", "object", "embed", "base", "form", "foreignObject", "use", "animate"}), [],
              f"{name}: nothing that runs or loads")
    attributes = {(k, v) for e in elements for k, v in e.attrib.items()}
    tap.equal([a for a in attributes if a[0].lower().startswith("on") or a[0] in ("src", "srcset", "style", "action", "{http://www.w3.org/1999/xlink}href")
               or a[0] == "href" and not a[1].startswith("#")], [], f"{name}: no handlers, and links stay in the page")
    css = text_of(root.find(f".//{XHTML}style"))
    tap.ok("url(" not in css and "@import" not in css, f"{name}: the style sheet loads nothing")
    tap.ok(all(ord(c) < 127 for c in data), f"{name}: only ASCII")
    ids = [e.get("id") for e in elements if e.get("id")]
    tap.equal(len(ids), len(set(ids)), f"{name}: ids are unique")
    wanted = {i for e in elements for i in e.get("aria-labelledby", "").split()} | {v[1:] for k, v in attributes if k == "href"}
    tap.equal(wanted - set(ids), set(), f"{name}: what is referred to is there")
    figures = [e for e in elements if e.tag == SVG + "svg"]
    tap.equal([e.attrib for e in figures if e.get("aria-hidden") != "true"
               and not (e.get("role") == "img" and text_of(e.find(SVG + "title") or e[0]) and e.find(SVG + "desc") is not None)], [],
              f"{name}: figures are described")
    bad = [v for k, v in attributes if re.search(r"NaN|Infinity", v) and k != "value"]
    tap.equal(bad, [], f"{name}: coordinates are numbers")
    outside = []
    for svg in figures:
        if svg.get("role") != "img":
            continue
        _, _, w, h = map(float, svg.get("viewBox").split())
        for e in svg.iter():
            for k, most in (("x", w), ("x1", w), ("x2", w), ("cx", w), ("y", h), ("y1", h), ("y2", h), ("cy", h)):
                if e.get(k) and not -0.1 <= float(e.get(k)) <= most + 0.1:
                    outside.append((e.tag, k, e.get(k)))
            if e.tag == SVG + "rect" and float(e.get("x", 0)) + float(e.get("width")) > w + 0.1:
                outside.append(e.attrib)
            for command in re.findall(r"[MLHV][^MLHVZ]*", e.get("d", "")):
                numbers = [float(n) for n in command[1:].split(",")]
                limits = {"H": [w], "V": [h]}.get(command[0], [w, h])
                outside += [command for n, most in zip(numbers, limits) if not -0.1 <= n <= most + 0.1]
    tap.equal(outside[:5], [], f"{name}: nothing is drawn outside of the figures")
    levels = [int(e.tag[-1]) for e in elements if re.fullmatch(r"\{.*\}h[1-6]", e.tag)]
    tap.ok(levels[0] == 1 and levels.count(1) == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])), f"{name}: headings are in order", levels)
    tap.equal([text_of(t)[:40] for t in root.iter(XHTML + "th") if t.get("scope") is None], [], f"{name}: headings of tables have a scope")
    days = root.find(f".//{XHTML}table[@id='days']")
    if days is not None:
        body = [[cell.get("value") for cell in row.iter(XHTML + "data")] for row in days.find(XHTML + "tbody")]
        total = [cell.get("value") for cell in days.find(XHTML + "tfoot").iter(XHTML + "data")]
        sums = [round(sum(float(row[i]) for row in body), 9) for i in range(5)]
        tap.equal(sums, [round(float(t), 9) for t in total], f"{name}: days add up")
    return root


# ---------------------------------------------------------------------------
# what a browser makes of it
# ---------------------------------------------------------------------------

PROXY = socket.socket()
ASKED = []                                      # first lines of requests
# whom Chromium itself asks
OWN = r"[A-Z]+ (?:https?://)?[\w.-]*\.(?:google|googleapis|gvt1|gstatic|googleusercontent)\.com[:/ ]"


def listen():
    PROXY.bind(("127.0.0.1", 0))
    PROXY.listen()

    def take():
        while True:
            peer, _ = PROXY.accept()
            peer.settimeout(5)
            try:
                ASKED.append(peer.recv(2000).decode("latin-1").split("\r\n")[0])
            except OSError as error:
                ASKED.append(str(error))
            peer.close()

    threading.Thread(target=take, daemon=True).start()


def asked():
    """what others than Chromium itself have asked for since the last time"""
    # a connection that is opened ahead, and closed unused, asks for nothing
    seen = [line for line in ASKED if line and not re.match(OWN, line)]
    ASKED.clear()
    return seen


def chromium(program, work, *arguments):
    """what it prints; it is begun again where it does not end"""
    for _ in range(3):
        run = subprocess.Popen([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
                                "--hide-scrollbars", "--force-device-scale-factor=1", "--allow-file-access-from-files",
                                f"--proxy-server=127.0.0.1:{PROXY.getsockname()[1]}", "--proxy-bypass-list=<-loopback>",
                                f"--user-data-dir={work}/profile", "--virtual-time-budget=2000", *arguments],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=work), start_new_session=True)
        try:
            return run.communicate(timeout=60)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            print("Chromium did not end and is begun again:", *arguments, file=sys.stderr)
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            shutil.rmtree(os.path.join(work, "profile"), ignore_errors=True)
    return ""


def first_rows(path, count):
    """size of a PNG, and its first rows of pixels"""
    data = open(path, "rb").read()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    channels = {2: 3, 6: 4}[kind]
    assert depth == 8
    at, packed = 8, b""
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    raw = zlib.decompressobj().decompress(packed, (width * channels + 1) * count)
    rows, above = [], bytearray(width * channels)
    for r in range(count):
        start = r * (width * channels + 1)
        how, row = raw[start], bytearray(raw[start + 1:start + 1 + width * channels])
        for i in range(len(row)):
            left = row[i - channels] if i >= channels else 0
            up, corner = above[i], above[i - channels] if i >= channels else 0
            if how == 1:
                row[i] = (row[i] + left) & 255
            elif how == 2:
                row[i] = (row[i] + up) & 255
            elif how == 3:
                row[i] = (row[i] + (left + up) // 2) & 255
            elif how == 4:
                p = left + up - corner
                best = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))
                row[i] = (row[i] + best[2]) & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), channels)])
        above = row
    return width, height, rows


def rgb(colour):
    return tuple(int(colour[i:i + 2], 16) for i in (1, 3, 5))


def framed(work, name, path, width, height):
    """another page, which holds the page in a frame of this width and tells what it overflows by"""
    frame = os.path.join(work, f"frame-{name}-{width}.html")
    source = html.escape(open(path, encoding="utf-8").read(), quote=True)
    with open(frame, "w", encoding="utf-8") as out:
        out.write(f"""<!DOCTYPE html><html><body><iframe id="f" style="width:{width}px;height:{height}px;border:0" srcdoc="{source}"></iframe><p id="told">none</p>
<script>
document.getElementById('f').onload = function () {{
	var d = this.contentDocument, wide = [];
	d.querySelectorAll('main, section, h1, p, li, dl, .alerts, .cards').forEach(function (e) {{
		if (e.getBoundingClientRect().right > {width} + 1) wide.push(e.tagName + '.' + e.className); }});
	document.getElementById('told').textContent = JSON.stringify({{over: d.documentElement.scrollWidth - {width}, wide: wide.slice(0, 5),
		scripts: d.scripts.length, images: d.images.length, alerted: !!window.alerted,
		tall: d.documentElement.scrollHeight}});
}};
</script></body></html>""")
    return "file://" + frame


def measured(program, work, name, path, width):
    dom = chromium(program, work, "--dump-dom", framed(work, name, path, width, 900))
    told = re.search(r'<p id="told">(.*?)</p>', dom, re.S)
    return json.loads(html.unescape(told.group(1))) if told and told.group(1) != "none" else None


def check_browser(program, work, name, path, root):
    url = "file://" + path
    css = text_of(root.find(f".//{XHTML}style"))
    light, dark, _ = colours(css)
    pdf = os.path.join(work, f"{name}.pdf")
    dom = ""
    for width, schemes in ((360, ("light",)), (1280, ("light", "dark"))):
        seen = measured(program, work, name, path, width)
        tap.ok(seen is not None and seen["over"] <= 0 and not seen["wide"] and seen["scripts"] == 0 and seen["images"] == 0,
               f"{name}: {width} pixels wide, nothing hangs over and nothing runs", seen)
        # as long as it is, for pictures; no window is as narrow
        height = min((seen or {}).get("tall", 4000) + 40, 9000)
        drawn = url if width >= 500 else framed(work, name, path, width, height)
        for scheme in schemes:
            shot = os.path.join(work, f"{name}-{scheme}-{width}.png")
            # to begin it takes longer than to show a page, which is read as it is shown; of a long one that is printed, too, it may not end
            also = ("--dump-dom",) if drawn == url and scheme == "light" else ()
            dom += chromium(program, work, f"--blink-settings=preferredColorScheme={int(scheme == 'light')}", f"--window-size={max(width, 500)},{height}",
                            f"--screenshot={shot}", *also, drawn)
            if not os.path.exists(shot):
                tap.ok(False, f"{name}: a screenshot, {scheme}, {width}")
                continue
            _, _, rows = first_rows(shot, 12)
            tap.equal(rows[11][12], rgb((light if scheme == "light" else dark)["page"]), f"{name}: a screenshot, {scheme}, {width} pixels wide")
    chromium(program, work, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", url)
    said = html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", dom, flags=re.S)))
    said = re.sub(r"\s+", " ", said)
    tap.ok("</html>" in dom, f"{name}: Chromium shows it", dom[:300])
    printed = open(pdf, "rb").read() if os.path.exists(pdf) else b""
    tap.ok(printed[:5] == b"%PDF-", f"{name}: printed")
    if name == "certificate":
        tap.equal(len(re.findall(rb"/Type\s*/Page\b", printed)), 1, "certificate: printed on one page")
    tap.equal(asked(), [], f"{name}: no network request")
    return said


def main():
    program, work = sys.argv[1:3]
    listen()
    if program:
        control = os.path.join(work, "control.html")
        open(control, "w", encoding="utf-8").write("<img src='http://127.0.0.1:8123/control.png'><img src='http://nowhere.example/'>")
        chromium(program, work, "--dump-dom", "file://" + control)
        tap.equal(sorted(asked()), ["GET http://127.0.0.1:8123/control.png HTTP/1.1", "GET http://nowhere.example/ HTTP/1.1"],
                  "a page that asks for something is seen to")
    for name, path in (a.split("=", 1) for a in sys.argv[3:]):
        path = os.path.abspath(path)
        root = check_file(name, open(path, encoding="utf-8").read())
        if root is None:
            continue
        if name == "registry":
            for scheme, palette in zip(("light", "dark", "printed"), colours(text_of(root.find(f".//{XHTML}style")))):
                for pairs, least in ((TEXT, 4.5), (FIGURES, 3)):
                    tap.equal([(a, b, round(contrast(palette[a], palette[b]), 2)) for a, b in pairs if a in palette and b in palette
                               and contrast(palette[a], palette[b]) < least], [], f"contrast, {scheme}, at least {least}")
        if not program:
            continue
        said = check_browser(program, work, name, path, root)
        if name == "registry":
            for words in ("Privacy budget", "registry", "of the lifetime cap of 1.15 is spent", "At the rate of the last seven days",
                          "What is left of the lifetime cap", "Budgets, those that are nearest to their end first", "epidemiology", "ministry",
                          "By application", "Metabase", "Together, the roles would reach the cap before their limits",
                          "The latest", "Who may see this page"):
                tap.ok(words in said, f"registry: says '{words}'", said[:2000])
        elif name == "certificate":
            for words in ("Privacy promise", "registry.patients", "to which foreign key ( patient_id ) leads", "lifetime cap", "Not covered", "Signature"):
                tap.ok(words in said, f"certificate: says '{words}'", said[:2000])
            tap.ok("protected tables: 0" not in said and "Spending" not in said, "certificate: says nothing else")
        elif name == "hostile":
            for words in ('"><img src=', "<script>alert(1)</script>"):
                tap.ok(words in said, f"hostile: shows '{words}' as text", said[:3000])
        elif name == "empty":
            for words in ("Nothing was asked yet", "No role has a budget", "Nothing was refused"):
                tap.ok(words in said, f"empty: says '{words}'", said[:2000])
        elif name == "many":
            for words in ("Drawn are the 24 budgets", "the table has all 500"):
                tap.ok(words in said, f"many: says '{words}'", said[:2000])
    print(f"end {tap.n}")


if __name__ == "__main__":
    main()
