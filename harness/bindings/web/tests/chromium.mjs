// A headless Chromium, driven over a pipe: pages, keys, the mouse, screenshots, and answers for addresses
// outside.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm" };

/** Serves the files of a folder. */
export function serve(folder) {
  const server = createServer((request, response) => {
    const path = join(folder, normalize(new URL(request.url, "http://host").pathname).replace(/^\/$/, "/index.html"));
    if (!path.startsWith(folder) || !existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(readFileSync(path));
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done({ address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() })));
}

/** Starts the browser. */
export async function start() {
  const program = process.env.CHROMIUM ?? PROGRAMS.find((path) => existsSync(path)) ?? "chromium";
  const profile = mkdtempSync(join(tmpdir(), "rolecall-page-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe", `--user-data-dir=${profile}`];
  const browser = spawn(program, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const failed = new Promise((_, fail) => browser.on("error", fail));
  const [, , , write, read] = browser.stdio;
  const waiting = new Map();
  const listeners = new Set();
  let number = 0;
  let rest = Buffer.alloc(0);
  read.on("data", (data) => {
    rest = Buffer.concat([rest, data]);
    for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
      const message = JSON.parse(rest.subarray(0, end).toString());
      const asked = waiting.get(message.id);
      if (!asked) listeners.forEach((listener) => listener(message));
      else if (message.error) asked.fail(new Error(message.error.message));
      else asked.done(message.result);
      waiting.delete(message.id);
    }
  });
  const send = (method, params = {}, sessionId = undefined) =>
    Promise.race([failed, new Promise((done, fail) => {
      waiting.set((number += 1), { done, fail });
      write.write(`${JSON.stringify({ id: number, method, params, sessionId })}\0`);
    })]);
  const close = async () => {
    await send("Browser.close").catch(() => {});
    await new Promise((done) => (browser.exitCode === null ? browser.once("exit", done) : done()));
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  const open = async (address, { width = 1280, height = 900, dark = false, outside = {} } = {}) => {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    const ask = (method, params) => send(method, params, sessionId);
    const violations = [];
    const requests = [];
    listeners.add(({ method, params, sessionId: from }) => {
      if (from !== sessionId) return;
      if (method === "Log.entryAdded" && ["security", "violation"].includes(params.entry.source)) violations.push(params.entry.text);
      if (method === "Runtime.exceptionThrown") violations.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method !== "Fetch.requestPaused") return;
      const { url } = params.request;
      requests.push(url);
      const answer = outside[new URL(url).pathname];
      const headers = [{ name: "access-control-allow-origin", value: "*" }];
      ask("Fetch.fulfillRequest", { requestId: params.requestId, responseCode: answer === undefined ? 404 : 200, responseHeaders: headers, body: Buffer.from(answer ?? "").toString("base64") });
    });
    for (const domain of ["Page", "Runtime", "Log"]) await ask(`${domain}.enable`);
    await ask("Fetch.enable", { patterns: [{ urlPattern: "https://*" }] });
    await ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 500 });
    await ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    await ask("Page.addScriptToEvaluateOnNewDocument", { source: "window.stolen = 0; window.refused = []; addEventListener('securitypolicyviolation', (event) => refused.push(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)); window.alert = () => { stolen += 1; };" });
    const page = {
      violations,
      requests,
      ask,
      async run(script) {
        const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression: `(async () => { ${script} })()`, awaitPromise: true, returnByValue: true });
        if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
      },
      /** Waits until an expression is true. */
      async until(expression, seconds = 30) {
        const end = Date.now() + seconds * 1000;
        while (!(await page.run(`return Boolean(${expression})`).catch(() => false))) {
          if (Date.now() > end) throw new Error(`never true: ${expression}\n${await page.run("return document.body.innerText")}`);
          await new Promise((done) => setTimeout(done, 40));
        }
      },
      async go(to) {
        await ask("Page.navigate", { url: to });
        await page.until("document.body?.classList.contains('ready')");
      },
      /** Moves the mouse to the middle of an element. */
      async hover(selector) {
        const [x, y] = await page.run(`const one = document.querySelector(${JSON.stringify(selector)}); one.scrollIntoView({ block: "center" }); const { x, y, height } = one.getClientRects()[0]; return [x + 3, y + height / 2];`);
        await ask("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
      },
      async press(key) {
        for (const type of ["rawKeyDown", "keyUp"]) await ask("Input.dispatchKeyEvent", { type, key, code: key, windowsVirtualKeyCode: { Tab: 9, Enter: 13, ArrowRight: 39, ArrowLeft: 37 }[key] });
      },
      /** Waits until the prompt is that of what was typed last. */
      settled: () => page.until("document.querySelector('#prompt[aria-busy=false]')"),
      /** Writes a text into a field, as if it were pasted, and waits for its prompt. */
      async fill(selector, text) {
        await page.run(`const field = document.querySelector(${JSON.stringify(selector)}); field.value = ${JSON.stringify(text)}; field.dispatchEvent(new Event("input", { bubbles: true })); field.dispatchEvent(new Event("change", { bubbles: true }));`);
        await page.settled();
      },
      async picture() {
        const { data } = await ask("Page.captureScreenshot", { captureBeyondViewport: true });
        return Buffer.from(data, "base64");
      },
      close: () => send("Target.closeTarget", { targetId }),
    };
    if (address) await page.go(address);
    return page;
  };
  return { open, close };
}
