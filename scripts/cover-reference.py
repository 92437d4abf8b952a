#!/usr/bin/env python3
"""Compares what Rolecall says that templates reach with what Jinja2 and Go themselves reach.

    .references/python-transformers/bin/python scripts/cover-reference.py [ROLECALL [TEMPLATE…]]

Renders the suite's templates with the suite's cases, as the references do. The templates' trees are
those of Jinja2 and of Go's text/template, with probes in them: a probe before each statement, and a
function around each condition that returns its value unchanged. Then it compares every outcome with
that of the reference without probes, and every place with `rolecall cover --format json`: for every
way in which it can be reached the number of cases and the first of them. ROLECALL is the program
(default: target/debug/rolecall-checkout). Reports each difference. Exit codes: 0 no difference; 1 a
difference.
"""

import contextlib
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "scripts/engines/transformers/main.py"
WAYS = {
    "statement": ["reached"],
    "macro": ["reached"],
    "condition": ["true", "false"],
    "operand": ["true", "false"],
    "loop": ["empty", "once", "several"],
}
MOST_NAMED = 3
# What a line says about the engine, and not about the outcome.
OF_ENGINE = ("engine", "version")


class Recorder:
    """What one render reaches: pairs of a site's number and a way."""

    def __init__(self):
        self.hits = set()
        self.loops = []

    def reach(self, site):
        self.hits.add((site, "reached"))

    def decide(self, value, site):
        self.hits.add((site, "true" if value else "false"))
        return value

    def begin_loop(self, site):
        self.loops.append([site, 0])

    def turn(self, site):
        self.leave_inner(site)
        self.loops[-1][1] += 1
        if self.loops[-1][1] > 1:
            self.hits.add((site, "several"))

    def begin_else(self, site):
        self.leave_inner(site)
        self.settle()

    def end_loop(self, site):
        self.begin_else(site)
        self.loops.pop()

    def leave_inner(self, site):
        """Ends the loops that were left from their `else`."""
        while self.loops[-1][0] != site:
            self.settle()
            self.loops.pop()

    def settle(self):
        site, turns = self.loops[-1]
        if turns < 2:
            self.hits.add((site, ["empty", "once"][turns]))


def serve(log):
    """Runs the reference, and writes what each render reaches into a file, a line for each."""
    import jinja2
    from jinja2 import nodes

    class Instrumenter:
        """Puts probes into a tree. A site stands before the sites within it."""

        def __init__(self):
            self.sites = []

        def site(self, kind, node):
            line = min([node.lineno, *(inner.lineno for inner in node.find_all(nodes.Expr))])
            if kind not in ("condition", "operand", "print"):
                line = node.lineno
            self.sites.append(["statement" if kind == "print" else kind, line])
            return len(self.sites) - 1

        def call(self, name, arguments, line):
            function = nodes.EnvironmentAttribute("cover_" + name, lineno=line)
            return nodes.Call(function, arguments, [], None, None, lineno=line)

        def probe(self, name, site, line):
            number = nodes.Const(site, lineno=line)
            return nodes.ExprStmt(self.call(name, [number], line), lineno=line)

        def body(self, statements):
            new = []
            for statement in statements:
                self.statement(statement, new)
            return new

        def statement(self, node, new):
            if isinstance(node, nodes.Output):
                for child in node.nodes:
                    if not isinstance(child, nodes.TemplateData):
                        new.append(self.probe("reach", self.site("print", child), node.lineno))
                        child = self.expression(child)
                    new.append(nodes.Output([child], lineno=node.lineno))
                return
            if isinstance(node, nodes.If):
                self.condition(node, "test")
                node.body = self.body(node.body)
                for other in node.elif_:
                    self.condition(other, "test")
                    other.body = self.body(other.body)
                node.else_ = self.body(node.else_)
                new.append(node)
                return
            if isinstance(node, nodes.For):
                self.loop(node, new)
                return
            if isinstance(node, nodes.Scope):
                node.body = self.body(node.body)
                new.append(node)
                return
            if isinstance(node, nodes.Macro):
                self.macro(node)
                new.append(node)
                return
            new.append(self.probe("reach", self.site("statement", node), node.lineno))
            new.append(node)
            if isinstance(node, nodes.CallBlock):
                node.call = self.expression(node.call)
                self.macro(node)
                return
            for field in ("node", "filter", "values", "template"):
                if isinstance(node, nodes.ScopedEvalContextModifier):
                    break
                value = getattr(node, field, None)
                if isinstance(value, list):
                    setattr(node, field, [self.expression(item) for item in value])
                elif isinstance(value, nodes.Node):
                    setattr(node, field, self.expression(value))
            if hasattr(node, "body"):
                node.body = self.body(node.body)

        def loop(self, node, new):
            site = None
            if node.test is not None or not self.is_literal(node.iter):
                site = self.site("loop", node)
            node.iter = self.expression(node.iter)
            if node.test is not None:
                self.condition(node, "test")
            node.body = self.body(node.body)
            node.else_ = self.body(node.else_)
            if site is None:
                new.append(node)
                return
            node.body.insert(0, self.probe("turn", site, node.lineno))
            if node.else_:
                node.else_.insert(0, self.probe("begin_else", site, node.lineno))
            new.append(self.probe("begin_loop", site, node.lineno))
            new.append(node)
            new.append(self.probe("end_loop", site, node.lineno))

        def macro(self, node):
            site = self.site("macro", node)
            node.defaults = [self.expression(default) for default in node.defaults]
            node.body = [self.probe("reach", site, node.lineno), *self.body(node.body)]

        def is_literal(self, node):
            return isinstance(node, nodes.Literal)

        def is_logical(self, node):
            return isinstance(node, (nodes.And, nodes.Or))

        def condition(self, owner, field):
            setattr(owner, field, self.choice(getattr(owner, field), "condition"))

        def choice(self, node, kind):
            if self.is_literal(node):
                return self.expression(node)
            site = self.site(kind, node)
            line = node.lineno
            return self.call("decide", [self.expression(node), nodes.Const(site, lineno=line)], line)

        def expression(self, node):
            if self.is_logical(node):
                for side in ("left", "right"):
                    operand = getattr(node, side)
                    operand = (
                        self.expression(operand)
                        if self.is_logical(operand)
                        else self.choice(operand, "operand")
                    )
                    setattr(node, side, operand)
                return node
            if isinstance(node, nodes.CondExpr):
                self.condition(node, "test")
                node.expr1 = self.expression(node.expr1)
                if node.expr2 is not None:
                    node.expr2 = self.expression(node.expr2)
                return node
            for field, value in node.iter_fields():
                if isinstance(value, nodes.Node):
                    setattr(node, field, self.expression(value))
                elif isinstance(value, list):
                    value = [
                        self.expression(item) if isinstance(item, nodes.Node) else item
                        for item in value
                    ]
                    setattr(node, field, value)
            return node

    plain = jinja2.Environment.from_string
    render, pieces = jinja2.Template.render, jinja2.Template.generate
    state = {"reached": None}

    def from_string(self, source, *arguments, **named):
        if not isinstance(source, str):
            return plain(self, source, *arguments, **named)
        tree = self.parse(source)
        instrumenter = Instrumenter()
        tree.body = instrumenter.body(tree.body)
        for name in ("reach", "decide", "turn", "begin_loop", "begin_else", "end_loop"):
            # The recorder is another one in each render.
            def report(*arguments, name=name):
                return getattr(self.recorder, name)(*arguments)

            setattr(self, "cover_" + name, report)
        template = plain(self, tree, *arguments, **named)
        template.sites = instrumenter.sites
        return template

    @contextlib.contextmanager
    def recorded(template):
        template.environment.recorder = Recorder()
        try:
            yield
        finally:
            hits = sorted(template.environment.recorder.hits)
            state["reached"] = {"sites": template.sites, "hits": hits}

    def covered(self, *arguments, **named):
        with recorded(self):
            return render(self, *arguments, **named)

    # transformers reads the pieces of a prompt to find the model's own text.
    def covered_pieces(self, *arguments, **named):
        with recorded(self):
            yield from pieces(self, *arguments, **named)

    jinja2.Environment.from_string = from_string
    jinja2.Template.render = covered
    jinja2.Template.generate = covered_pieces

    class Requests:
        """Standard input. When the reference asks for the next request, it has answered the last."""

        def __init__(self, lines):
            self.buffer = self.each(lines)

        def each(self, lines):
            with open(log, "w", encoding="utf-8") as out:
                for line in lines:
                    state["reached"] = None
                    yield line
                    if b'"request":"render"' in line[:40].replace(b" ", b""):
                        out.write(json.dumps(state["reached"]) + "\n")
                        out.flush()

    sys.stdin = Requests(sys.stdin.buffer)
    runpy.run_path(str(REFERENCE), run_name="__main__")


def ollama(folder):
    """Builds the reference for Go templates with probes, and returns its command."""
    sources = Path(folder, "ollama")
    shutil.copytree(ROOT / "scripts/engines/ollama", sources)
    shutil.copy(ROOT / "scripts/cover-reference.go", sources / "cover.go")
    for name, plain, covered in [
        ("main.go", "parseTemplate(r.Source)", "coveredTemplate(r.Source)"),
        ("main.go", "answer = render(", "answer = renderCovered("),
        ("template.go", "t.Template.Execute(", "t.probed().Execute("),
        ("template.go", "t.Template.Root.CopyList()", "t.probed().Root.CopyList()"),
        ("template.go", 'template.New("").AddParseTree', "t.bare().AddParseTree"),
    ]:
        file = sources / name
        text = file.read_text()
        assert plain in text, f"{name}: {plain}"
        file.write_text(text.replace(plain, covered))
    program = Path(folder, "ollama-covered")
    environment = {
        "GOCACHE": str(ROOT / ".references/go-cache"),
        **os.environ,
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=mod",
        "CGO_ENABLED": "0",
    }
    go = (ROOT / ".references/python-ollama/bin/go").resolve()
    build = [go, "build", "-trimpath", "-o", program, "."]
    subprocess.run(build, cwd=sources, env=environment, check=True)
    return str(program)


def rendered(program, templates, dialect, engine, log=""):
    """The outcomes of all pairs, in order."""
    command = [program, "render", *templates, "--dialect", dialect, "--jobs", "1"]
    command += ["--engine", engine, "--allow-engines", "--format", "jsonl"]
    environment = {**os.environ, "COVER_LOG": log}
    answered = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    return [json.loads(line) for line in answered.stdout.strip("\n").split("\n")]


def reached(pairs, log):
    """The places of each template, and for each way the cases that take it."""
    with open(log, encoding="utf-8") as file:
        renders = [json.loads(line) for line in file]
    # Before the pairs, Rolecall may try the program.
    renders = renders[len(renders) - len(pairs) :]
    found = {}
    for pair, render in zip(pairs, renders, strict=True):
        if render is None:
            continue
        sites = found.setdefault(pair["template"], (render["sites"], {}))
        assert sites[0] == render["sites"], pair
        for site, way in render["hits"]:
            sites[1].setdefault((site, way), []).append(pair["case"])
    return found


def differences(ours, theirs):
    """How many ways were compared, and each that differs."""
    found, ways = [], 0
    for template in ours["templates"]:
        name = template["template"]
        sites, cases = theirs.pop(name, ([], {}))
        own = [[site["kind"], site["line"]] for site in template["sites"]]
        # Go does not say where a named template begins.
        pairs = zip(own, sites)
        other = [at for at, (a, b) in enumerate(pairs) if a != b and [a[0], None] != b]
        if other or len(own) != len(sites):
            at = [own[other[0]], sites[other[0]]] if other else [len(own), len(sites)]
            found.append(f"{name}: other places: Rolecall and the reference have {at}")
            continue
        for number, site in enumerate(template["sites"]):
            for way in site["ways"]:
                ways += 1
                taken = cases.get((number, way["way"]), [])
                expected = {"way": way["way"], "cases": len(taken), "first": taken[:MOST_NAMED]}
                # Why no case need take a way is not the reference's to say, if none does.
                if not taken:
                    way.pop("excuse", None)
                if way != expected:
                    place = f"{name}:{site['line']}:{site['column']} {site['kind']}"
                    found.append(f"{place}: the reference {expected}, Rolecall {way}")
            assert [way["way"] for way in site["ways"]] == WAYS[site["kind"]]
    return ways, found + [f"{name}: not in Rolecall's answer" for name in theirs]


def compare(program, templates, dialect, engine, log, plain):
    pairs = rendered(program, templates, dialect, engine, log)
    outcome = lambda pair: {key: value for key, value in pair.items() if key not in OF_ENGINE}
    unprobed = rendered(program, templates, dialect, plain)
    found = [
        f"{pair['template']}:{pair['case']}: another outcome with probes"
        for pair, other in zip(pairs, unprobed, strict=True)
        if outcome(pair) != outcome(other)
    ]
    command = [program, "cover", *templates, "--dialect", dialect, "--format", "json"]
    ours = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    ways, others = differences(json.loads(ours.stdout), reached(pairs, log))
    found += others
    for difference in found:
        print(difference)
    print(
        f"{dialect}: {len(pairs)} pairs, {ways} ways through the templates, "
        f"{len(found)} differences"
    )
    return not found and ways > 0


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/debug/rolecall-checkout")
    templates = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "reached")
        serving = f"{sys.executable} {Path(__file__).resolve()} --serve {log}"
        agree = compare(program, templates, "jinja", serving, log, "transformers")
        os.remove(log)
        agree &= compare(program, templates, "go", ollama(folder), log, "ollama")
    sys.exit(not agree)


if sys.argv[1:2] == ["--serve"]:
    serve(sys.argv[2])
else:
    main()
