// The page, in Chromium.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { serve, start } from "./chromium.mjs";

const BUILT = fileURLToPath(new URL("../../../../target/web/", import.meta.url));
const PICTURES = join(BUILT, "pictures");
const MARKUP = "<img src=x onerror=stolen++><script>stolen++</script>";
let browser;
let server;

before(async () => {
  server = await serve(join(BUILT, "page"));
  browser = await start();
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** A page for one test, which may break no policy. */
async function open(options = {}, fragment = "") {
  const page = await browser.open(server.address + fragment, options);
  await page.settled();
  return page;
}

async function close(page) {
  assert.deepEqual(await page.run("return [stolen, refused]"), [0, []]);
  assert.deepEqual(page.violations, []);
  await page.close();
}

const text = (page, selector) => page.run(`return document.querySelector(${JSON.stringify(selector)}).textContent`);
async function click(page, selector) {
  await page.run(`document.querySelector(${JSON.stringify(selector)}).click()`);
  await page.settled();
}
// The card of what was just typed.
async function carded(page) {
  await page.until("document.querySelector('#card .block') && !document.querySelector('.old')");
}

test("a template is pasted, and a conversation is chosen", { timeout: 60_000 }, async () => {
  const page = await open();
  await page.fill("#chosen", "plain/single-turn");
  await page.fill("[aria-label='Template A']", "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}");
  await page.until("document.querySelector('#prompt').textContent.startsWith('<user>')");
  const ids = await page.run("return [...document.querySelectorAll('#chosen option')].map((one) => one.value)");
  assert.ok(ids.length >= 28, `${ids.length} conversations`);
  for (const id of ids.slice(1)) {
    await page.fill("#chosen", id);
    await page.until(`document.querySelector('#conversation').value.includes('messages')`);
  }
  await page.fill("#conversation", '[{"role": "user", "content": "mine\\u00a0"}]');
  await page.until("document.querySelector('#prompt').textContent.includes('mine')");
  assert.equal(await page.run("return document.querySelector('#prompt .hidden').dataset.sign"), "U+00A0");
  assert.equal(await page.run("return document.querySelector('#chosen').value"), "");
  // A mistake has its place.
  await page.fill("[aria-label='Template A']", "fine\n{% if %}");
  await page.until("document.querySelector('#wrong').textContent.includes('line 2')");
  assert.equal(await text(page, ".gutter .wrong"), "2");
  await close(page);
});

test("the mouse and the arrow keys show who wrote what", { timeout: 60_000 }, async () => {
  const page = await open();
  await page.fill("[aria-label='Template A']", "{% for m in messages %}\n{{- 'Said: ' + m.content | trim }}\n{%- endfor %}");
  await page.fill("#conversation", '[{"role": "user", "content": " é𝄞 Hi "}]');
  await page.until("document.querySelector('#prompt').textContent.includes('Hi')");
  await page.hover("#prompt .of-message");
  await page.until("document.querySelector('#origin').textContent.includes('messages[0].content')");
  assert.match(await text(page, "#origin"), /^Bytes 6 to 15: the message of “user”: messages\[0\]\.content, bytes 1 to 10, by trim$/);
  await page.hover("#prompt .of-template");
  await page.until("document.querySelector('#origin').textContent.includes('line 2')");
  assert.equal(await text(page, ".backdrop .origin mark"), "Said: ");
  await page.run("document.querySelector('#prompt').focus()");
  await page.press("ArrowRight");
  await page.until("document.querySelector('#prompt .here').classList.contains('of-message')");
  await close(page);
});

test("the mask and the coverage are shown", { timeout: 60_000 }, async () => {
  const page = await open();
  await page.fill("[aria-label='Template A']", "{% if tools %}\n{{ tools }}\n{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}");
  await page.fill("#conversation", '{"messages": [{"role": "user", "content": "a\\t"}, {"role": "assistant", "content": "b"}], "add_generation_prompt": false}');
  await page.until("document.querySelector('#prompt').textContent.includes('assistant')");
  await click(page, "#mask");
  await page.until("document.querySelector('.masked #prompt .learned')");
  assert.match(await page.run("return [...document.querySelectorAll('#prompt .learned')].map((one) => one.textContent).join('')"), /b<\/s>$/);
  assert.match(await text(page, "#size"), /the model writes [1-9]/);
  await click(page, "#coverage");
  await page.until("document.querySelector('.gutter .missed')");
  assert.equal(await text(page, ".gutter .missed"), "2");
  const sign = () => page.run("return getComputedStyle(document.querySelector('#prompt .mark'), '::before').content");
  assert.equal(await sign(), '"⇥"');
  await click(page, "#space");
  assert.equal(await sign(), "none");
  await close(page);
});

test("the card has its sentences with their prompts, and a patch is applied", { timeout: 120_000 }, async () => {
  const page = await open();
  await page.fill("[aria-label='Template A']", readFileSync(new URL("defects.jinja", import.meta.url), "utf8"));
  await page.until("document.querySelector('#prompt').textContent.includes('im_start')");
  await carded(page);
  const findings = await page.run("return [...document.querySelectorAll('.finding > summary b')].map((one) => one.textContent)");
  assert.ok(findings.length > 2, findings.join());
  assert.ok(await page.run("return document.querySelector('.finding .explanation h3') && document.querySelector('.finding mark') && document.querySelector('.finding .diff .came b')"));
  const words = await text(page, "#card pre.words");
  assert.ok(words.includes("what it can do") || words.includes("contracts hold"), words);
  assert.ok(await page.run("return document.querySelectorAll('.finding .render .transcript').length >= document.querySelectorAll('.finding').length"));
  await click(page, "#mend");
  await page.until("document.querySelector('.patch')", 60);
  const contract = await text(page, ".patch strong");
  assert.ok(findings.includes(contract), `${contract} of ${findings}`);
  assert.ok(await page.run("return document.querySelector('.patch .came') && document.querySelector('.patch .gone')"));
  const before = await page.run("return document.querySelector('[aria-label=\"Template A\"]').value");
  await click(page, ".patch .primary");
  await page.until(`document.querySelector('[aria-label="Template A"]').value !== ${JSON.stringify(before)}`);
  await carded(page);
  await page.until(`![...document.querySelectorAll('.finding > summary b')].some((one) => one.textContent === ${JSON.stringify(contract)})`);
  // A probe becomes the conversation.
  await page.run("document.querySelector('.finding').open = true; const one = document.querySelector('.finding .render button'); one.closest('details').open = true; one.click()");
  await page.until("document.querySelector('#chosen').value === ''");
  await close(page);
});

test("two templates are compared", { timeout: 120_000 }, async () => {
  const page = await open();
  await page.fill("#chosen", "plain/single-turn");
  await click(page, "#compare");
  await page.until("document.querySelector('#differs').textContent.includes('byte for byte')");
  await page.fill("[aria-label='Template B']", "{% for m in messages %}# {{ m.role }}\n{{ m.content }}\n{% endfor %}");
  await page.until("document.querySelector('#sides .came') && document.querySelector('#sides .gone')");
  await click(page, "#whole");
  await page.until("document.querySelector('#compared').textContent.length > 200", 60);
  assert.match(await text(page, "#compared"), /differ/);
  await close(page);
});

test("a link opens the same page again, and a broken one says so", { timeout: 120_000 }, async () => {
  const page = await open();
  await page.fill("[aria-label='Template A']", "{{ messages[0].content }} ✓ {{ eos_token }}");
  await page.fill("#tokens", '{"eos_token": "<end>"}');
  await click(page, "#mask");
  await page.until("document.querySelector('#prompt').textContent.endsWith('✓ <end>')");
  await page.until("location.hash.length > 20");
  const [hash, shown] = await page.run("await new Promise((done) => setTimeout(done, 400)); return [location.hash, document.querySelector('#prompt').textContent]");
  const again = await open({}, hash);
  await again.until(`document.querySelector('#prompt').textContent === ${JSON.stringify(shown)}`);
  assert.equal(await again.run("return document.querySelector('#mask').getAttribute('aria-pressed')"), "true");
  await close(again);
  const bomb = await page.run("const stream = new Blob([new Uint8Array(64 << 20)]).stream().pipeThrough(new CompressionStream('deflate-raw')); const bytes = new Uint8Array(await new Response(stream).arrayBuffer()); let text = ''; for (const byte of bytes) text += String.fromCharCode(byte); return '#1.' + btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')");
  for (const broken of [hash.slice(0, -9), hash.slice(0, 30), "#1.", "#1.AAAA", "#nonsense", `#${MARKUP}`, "#javascript:stolen++", "#hf:", `#hf:a/b${MARKUP}`, "#hf:../../x/y", bomb]) {
    const other = await open({}, broken);
    await other.until("document.querySelector('#notice').textContent");
    assert.ok((await text(other, "#notice")).length > 10, broken);
    await close(other);
  }
  await close(page);
});

test("each application shows its prompt, and where it differs", { timeout: 60_000 }, async () => {
  const page = await open();
  await page.fill("[aria-label='Template A']", "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}");
  await page.fill("#conversation", '[{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]');
  await page.until("document.querySelector('[data-front=vllm].differs')");
  assert.equal(await page.run("return document.querySelector('[data-front=transformers]').classList.contains('differs')"), false);
  assert.match(await page.run("return document.querySelector('[data-front=vllm]').getAttribute('aria-label')"), /^vllm, differs from/);
  await page.run("document.querySelector('#fronts [aria-selected=true]').focus()");
  for (let steps = 0; steps < 9 && (await page.run("return document.activeElement.dataset.front")) !== "vllm"; steps += 1) await page.press("ArrowRight");
  await page.settled();
  assert.equal(await text(page, "#fronts [aria-selected=true]"), "vllm");
  await page.until("document.querySelector('#prompt').textContent === '<user>Hi'");
  assert.match(await text(page, "#differs"), /− is of its own application, \+ of vllm/);
  assert.ok(await page.run("return document.querySelector('#sides .gone') && document.querySelector('#sides .came')"));
  assert.equal(await page.run("return document.querySelector('#difference').hidden"), false);
  await page.fill("#dialect", "go");
  assert.equal(await page.run("return document.querySelector('#difference').hidden && document.querySelector('[data-front=ollama]') !== null"), true);
  await close(page);
});

// A file of GGUF with a template and three tokens.
function gguf(template) {
  const number = (value, bytes) => Buffer.from([...Array(bytes)].map((_, at) => (value / 256 ** at) & 255));
  const word = (text) => Buffer.concat([number(Buffer.byteLength(text), 8), Buffer.from(text)]);
  const [NUMBER, TEXT, LIST] = [4, 8, 9].map((kind) => number(kind, 4));
  const tokens = ["<b>", "<e>", "x"];
  const pairs = [
    [word("general.architecture"), TEXT, word("llama")],
    [word("tokenizer.ggml.tokens"), LIST, TEXT, number(tokens.length, 8), ...tokens.map(word)],
    [word("tokenizer.ggml.bos_token_id"), NUMBER, number(0, 4)],
    [word("tokenizer.ggml.eos_token_id"), NUMBER, number(1, 4)],
    [word("tokenizer.chat_template"), TEXT, word(template)],
  ];
  return Buffer.concat([Buffer.from("GGUF"), number(3, 4), number(0, 8), number(pairs.length, 8), ...pairs.flat()]);
}

const DROP = `const drop = (files) => { const data = new DataTransfer(); for (const [name, content] of files) data.items.add(new File([content], name)); document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, dataTransfer: data })); };`;

test("a tokenizer cuts the prompt", { timeout: 60_000 }, async () => {
  const page = await open();
  const vocabulary = ["<|im_start|>", "<u>", "H", "i", "Hi", "é", "Ċ", "Ã", "©"];
  const tokenizer = {
    version: "1.0", truncation: null, padding: null, normalizer: null, post_processor: null, decoder: null,
    added_tokens: [{ id: 0, content: vocabulary[0], single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }],
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    model: { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])), merges: ["H i"] },
  };
  const config = { eos_token: "<u>", added_tokens_decoder: { 1: { content: "<u>", lstrip: false, rstrip: false, normalized: false, single_word: false, special: false } } };
  await page.run(`${DROP} drop([["tokenizer.json", ${JSON.stringify(JSON.stringify(tokenizer))}], ["tokenizer_config.json", ${JSON.stringify(JSON.stringify(config))}]])`);
  await page.fill("[aria-label='Template A']", "<|im_start|>{{ eos_token }}{{ messages[0].content }}");
  await page.fill("#conversation", '[{"role": "user", "content": "Hié"}]');
  await page.until("document.querySelectorAll('#prompt .token').length === 5");
  const tokens = await page.run("return [...document.querySelectorAll('#prompt .token')].map((one) => [one.textContent, one.title])");
  assert.deepEqual(tokens, [["<|im_start|>", "token 0, special"], ["<u>", "token 1, added"], ["Hi", "token 4"], ["é", "token 7"], ["", "token 8"]]);
  assert.match(await text(page, "#size"), /5 tokens$/);
  await click(page, "#cuts");
  assert.equal(await page.run("return document.querySelectorAll('#prompt .token').length"), 0);
  await click(page, "#cuts");
  await page.run(`${DROP} drop([["tokenizer.json", '{"model": 1}']])`);
  await page.until("document.querySelector('#notice').textContent.startsWith('The tokenizer cannot be used: ')");
  await close(page);
});

test("the theme is that of the system until it is switched", { timeout: 60_000 }, async () => {
  const page = await open({ dark: true });
  const paper = () => page.run("return getComputedStyle(document.body).backgroundColor");
  const dark = await paper();
  await click(page, "#theme");
  const light = await paper();
  assert.notEqual(light, dark);
  await page.go(server.address);
  assert.equal(await paper(), light);
  await page.run("localStorage.clear()");
  await close(page);
});

test("files are opened, and a model by its name", { timeout: 120_000 }, async () => {
  const outside = {
    "/org/name/resolve/main/tokenizer_config.json": JSON.stringify({ bos_token: "<b>", eos_token: { content: "<e>" }, chat_template: "old" }),
    "/org/name/resolve/main/chat_template.jinja": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}",
  };
  const page = await open({ outside });
  const drop = (files) => page.run(`${DROP} drop(${JSON.stringify(files)})`);
  await drop([["chat_template.jinja", "new {{ eos_token }}"], ["tokenizer_config.json", JSON.stringify({ chat_template: "old", eos_token: "</s>" })]]);
  await page.until("document.querySelector('#prompt').textContent === 'new </s>'");
  await drop([["request.json", JSON.stringify({ model: "m", messages: [{ role: "user", content: "dropped" }] })]]);
  await page.until("document.querySelector('#conversation').value.includes('dropped')");
  const file = gguf("{{ bos_token }}of GGUF{{ eos_token }}").toString("base64");
  await page.run(`${DROP} drop([["model.gguf", Uint8Array.from(atob("${file}"), (sign) => sign.charCodeAt(0))]])`);
  await page.until("document.querySelector('#prompt').textContent === '<b>of GGUF<e>'");
  for (const [name, content] of [["bad.gguf", "GGUF\u0003\0\0\0"], ["lies.gguf", `GGUF\u0003\0\0\0${"\u007f".repeat(64)}`], ["none.json", "{}"], [`${MARKUP}.json`, MARKUP]]) {
    await drop([[name, content]]);
    await page.until(`document.querySelector('#notice').textContent.startsWith(${JSON.stringify(`${name} cannot be opened`)})`);
  }
  await click(page, "#fetch");
  await page.fill("#model", "hf:org/name");
  await click(page, "#hub button");
  await page.until("document.querySelector('#prompt').textContent === '<b>dropped<e>'");
  await page.fill("#model", "hf:org/none");
  await click(page, "#hub button");
  await page.until("document.querySelector('#notice').textContent.includes('no chat template')");
  const hosts = new Set(page.requests.map((address) => new URL(address).host));
  assert.deepEqual([...hosts], ["huggingface.co"]);
  await close(page);
});

test("a hostile template is ended, and typing goes on", { timeout: 120_000 }, async () => {
  const page = await open();
  await page.fill("[aria-label='Template A']", "{% for a in range(99999) %}{% for b in range(99999) %}{{ ('x' * 999) | length }}{% endfor %}{% endfor %}");
  await page.until("/limit|ended/i.test(document.querySelector('#wrong').textContent)", 30);
  // A card of a hundred slow renders.
  await page.fill("[aria-label='Template A']", "{% for a in range(3000) %}{% for b in range(1200) %}{% endfor %}{% endfor %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}");
  await page.until("document.querySelector('#card').textContent.includes('ended: it was not done after 5 seconds')");
  await page.fill("[aria-label='Template A']", "fine");
  await page.until("document.querySelector('#prompt').textContent === 'fine'");
  await carded(page);
  // What is pasted is no longer than a browser can lay out.
  const paste = (length) => page.run(`const clipboardData = new DataTransfer(); clipboardData.setData("text/plain", "x".repeat(${length})); return document.querySelector("textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }))`);
  assert.deepEqual([await paste(5 << 20), await paste(5000)], [false, true]);
  assert.match(await text(page, "#notice"), /not pasted/);
  await page.fill("[aria-label='Template A']", "xyz ".repeat(120_000));
  await page.until("document.querySelector('#prompt').textContent.length > 100_000", 30);
  const worst = await page.run("let worst = 0; let last = performance.now(); for (let count = 0; count < 20; count += 1) { await new Promise((done) => setTimeout(done, 10)); worst = Math.max(worst, performance.now() - last); last = performance.now(); } return worst");
  assert.ok(worst < 2000, `${worst} ms`);
  await close(page);
});

test("200 texts with markup stay texts", { timeout: 300_000 }, async () => {
  const tags = ["<script>stolen++</script>", "<img src=x onerror=stolen++>", "<svg onload=stolen++>", "<iframe srcdoc='<script>parent.stolen++</script>'>", "<a href='javascript:stolen++'>x</a>", "<style>*{display:none}</style>", "<base href='//evil'>", "<meta http-equiv=refresh content='0;url=//evil'>", "<form action=//evil><input name=q>", "<details open ontoggle=stolen++>", "<math><mtext></table><img src=x onerror=stolen++>", "\"><script>stolen++</script>", "'-stolen++-'", "</textarea><script>stolen++</script>", "</pre><img src=x onerror=stolen++>", "<template><script>stolen++</script></template>", "<object data='data:text/html,<script>stolen++</script>'>", "<link rel=stylesheet href=//evil>", "${stolen++}", "{{constructor.constructor('stolen++')()}}"];
  let count = 0;
  const tryAll = async (page, some) => {
    for (const tag of some) {
      const quoted = JSON.stringify(tag);
      const literal = `'${tag.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
      const places = [
        ["[aria-label='Template A']", `{{ ${literal} }}{{ messages[0].content }}`],
        ["[aria-label='Template A']", `{{ raise_exception(${literal}) }}`],
        ["[aria-label='Template A']", tag.replaceAll("{{", "")],
        ["[aria-label='Template A']", `{% unknown ${tag} %}`],
        ["#conversation", `[{"role": ${quoted}, "content": ${quoted}, ${quoted}: ${quoted}}]`],
        ["#conversation", `{"messages": [], ${quoted}: 1}`],
        ["#conversation", tag],
        ["#tokens", `{"eos_token": ${quoted}}`],
        ["#tokens", tag],
        ["#model", `hf:${tag}`],
      ];
      for (const [selector, value] of places) {
        await page.fill(selector, value);
        if (selector === "#model") await page.run("document.querySelector('#hub').requestSubmit()");
        count += 1;
      }
      await page.fill("#tokens", "");
      await page.fill("#conversation", `[{"role": "user", "content": ${quoted}}]`);
    }
    const left = await page.run("return [...document.querySelectorAll('script, img, svg, iframe, a, style, base, form, object, math, link')].map((one) => one.outerHTML).filter((one) => /stolen|evil/.test(one))");
    assert.deepEqual(left, []);
    await carded(page);
    await close(page);
  };
  // Four pages at a time, because each text waits for what it is typed into.
  const pages = await Promise.all([0, 1, 2, 3].map(() => open()));
  await Promise.all(pages.map((page, at) => tryAll(page, tags.filter((_, number) => number % 4 === at))));
  assert.equal(count, 200);
});

test("everything has a name, keys alone suffice, and nothing is wider than a telephone", { timeout: 240_000 }, async () => {
  mkdirSync(PICTURES, { recursive: true });
  for (const [width, height] of [[1280, 900], [360, 780]]) {
    for (const dark of [false, true]) {
      const page = await open({ width, height, dark });
      await page.fill("#chosen", (await page.run("return [...document.querySelectorAll('#chosen option')].map((one) => one.value).find((one) => one.startsWith('tool-use/'))")) ?? "");
      await page.fill("[aria-label='Template A']", readFileSync(new URL("defects.jinja", import.meta.url), "utf8"));
      await carded(page);
      assert.equal(await page.run("return document.documentElement.scrollWidth <= innerWidth"), true, `${width}`);
      const nameless = await page.run("return [...document.querySelectorAll('button, select, input:not([hidden]), textarea')].filter((one) => !one.textContent.trim() && !one.getAttribute('aria-label') && !one.labels?.length).map((one) => one.outerHTML)");
      assert.deepEqual(nameless, []);
      const met = new Set();
      for (let count = 0; count < 40; count += 1) {
        await page.press("Tab");
        met.add(await page.run("return document.activeElement.id || document.activeElement.getAttribute('aria-label')"));
      }
      for (const id of ["open", "fetch", "compare", "share", "dialect", "Template A", "chosen", "conversation", "mask", "prompt", "mend"]) assert.ok(met.has(id), `${id} of ${[...met]}`);
      await page.run("document.activeElement.blur(); scrollTo(0, 0)");
      writeFileSync(join(PICTURES, `${width}-${dark ? "dark" : "light"}.png`), await page.picture());
      await close(page);
    }
  }
});
