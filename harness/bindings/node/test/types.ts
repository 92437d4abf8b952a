// Only compiled: the calls as people write them in TypeScript, and mistakes that the types notice.

import { RolecallError, Template, type CheckResult, type RenderOptions } from "rolecall";

interface ChatMessage {
  role: "user" | "assistant";
  content: string;
}

const messages: ChatMessage[] = [{ role: "user", content: "Hi" }];
const template = new Template("{{ messages }}", { specialTokens: { bos_token: "<s>" }, limits: { fuel: 10n } });
const options: RenderOptions = { addGenerationPrompt: false, now: new Date(), enable_thinking: true };
const prompt: string = template.render(messages, options);
const card: CheckResult = template.check({ select: ["text-verbatim"] });
const all: Template[] = Template.load("model");
try {
  template.renderJson(prompt);
} catch (error) {
  if (error instanceof RolecallError && error.code === "syntax") console.log(error.line?.toFixed(), card, all);
}

// @ts-expect-error there is no such dialect
new Template("", { dialect: "erb" });
// @ts-expect-error there is no such option
new Template("", { bosToken: "<s>" });
// @ts-expect-error a list is wanted
template.render("Hi");
