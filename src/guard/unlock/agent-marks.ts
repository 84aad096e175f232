import { basename } from 'node:path'

/** Which variable says that an agent started this; null when none does. */
export function agentVariable(names: readonly string[]): string | null {
  return names.find((name) => marks.test(name) && !configuration.test(name)) ?? null
}

/** The agent a process is, by the program or the script it was started with; null when it is none. */
export function agentOf(argv: readonly string[]): string | null {
  const [program = '', ...rest] = argv
  const script = interpreters.test(basename(program)) ? rest.find((word) => !word.startsWith('-')) : undefined
  for (const path of [program, script ?? '']) {
    const name = basename(path)
      .replace(/^-/, '')
      .replace(/\.(exe|js|mjs|cjs)$/, '')
    const found = agentNames.find((agent) => agent.program.test(name) || agent.path.test(path))
    if (found !== undefined) return found.agent
  }
  return null
}

const marks =
  /^(CLAUDECODE$|CLAUDE_CODE_|CLAUDE_PID$|CLAUDE_PROJECT_DIR$|CODEX_|GEMINI_CLI|COPILOT_|CURSOR_|OPENCODE|QWEN_CODE)/

/** Set by persons and by editors for every terminal, whoever sits at it. */
const configuration =
  /^(CODEX_HOME|CLAUDE_CODE_SSE_PORT|CLAUDE_CODE_(USE|DISABLE|ENABLE|MAX)_\w+|OPENCODE_CONFIG\w*|COPILOT_(MODEL|HOME)|GEMINI_CLI_HOME)$/

const interpreters = /^(node|bun|deno|python[\d.]*|ruby|sh|bash|dash|zsh|npx|npm|env)$/

const agentNames = [
  { agent: 'Claude Code', program: /^claude(-code)?$/, path: /@anthropic-ai\/claude|\/claude\/versions\// },
  { agent: 'Codex', program: /^codex(-(cli|exec|linux|x86_64|aarch64)\S*)?$/, path: /@openai\/codex/ },
  { agent: 'Gemini CLI', program: /^gemini(-cli)?$/, path: /@google\/gemini-cli/ },
  { agent: 'Copilot', program: /^copilot$/, path: /@github\/copilot/ },
  { agent: 'Cursor', program: /^cursor(-agent)?$/i, path: /\/cursor-agent\// },
  { agent: 'opencode', program: /^\.?opencode$/, path: /\/opencode-ai\// },
  { agent: 'Qwen Code', program: /^qwen$/, path: /@qwen-code\/qwen-code/ },
]
