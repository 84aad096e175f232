import { basename } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { randomSuffix } from '../../io/ids.ts'
import { type Ancestor, processAncestors } from '../../io/process-ancestors.ts'
import type { Terminal } from '../../io/terminal.ts'

export interface PersonCheck extends Descent {
  readonly terminal: Terminal
  readonly signal: AbortSignal
  /** What is about to happen, as a sentence. */
  readonly about: string
}

/** Who it is, for the ledger: `dev on /dev/pts/3`. Throws GantryError USAGE unless a person at a terminal says yes. */
export async function provePerson(check: PersonCheck): Promise<string> {
  const { terminal, env, signal, about } = check
  await refuseBeneathAgent(check)
  if (!terminal.isTerminal) {
    throw new GantryError('USAGE', 'this asks a person, and there is no terminal to ask at', {
      hint: 'Run it yourself in a terminal, without pipes or redirections.',
    })
  }
  const code = randomSuffix(6)
  terminal.write(`${about}\nType ${code} to go on, anything else to leave it: `)
  const answer = await terminal.readLine(signal)
  if (answer?.trim().toLowerCase() !== code) {
    throw new GantryError('USAGE', 'the code was not typed, so nothing was changed')
  }
  const name = env.SUDO_USER || env.USER || env.LOGNAME || 'somebody'
  return terminal.name === null ? name : `${name} on ${terminal.name}`
}

/** For whatever only a person may do, also without a question. */
export async function refuseBeneathAgent(descent: Descent): Promise<void> {
  const agent = await findAgentAbove(descent)
  if (agent === null) return
  throw new GantryError('USAGE', `this is for a person, and an agent seems to be running it: ${agent}`, {
    hint: 'Run it in a terminal of your own that no agent has started. A variable you have set yourself can be left out with env -u NAME.',
  })
}

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

export interface Descent {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  /** Processes that hooks have seen to be agents. */
  readonly agentPids?: readonly number[]
}

/** How it is known that an agent started this process, as the end of a sentence; null when nothing says so. */
export async function findAgentAbove({ env, pid, agentPids = [] }: Descent): Promise<string | null> {
  const own = agentVariable(Object.keys(env).filter((name) => env[name] !== undefined))
  if (own !== null) return `the variable ${own} is set, which agents give to what they start`
  const ancestors = await processAncestors(pid)
  if (ancestors === null) return 'this system does not tell which program started this one'
  for (const { pid: above, argv, variables } of ancestors) {
    const agent = agentOf(argv)
    if (agent !== null) return `it was started by ${agent} (process ${above})`
    if (agentPids.includes(above)) return `it was started by a guarded agent (process ${above})`
    const variable = agentVariable(variables)
    if (variable !== null) return `process ${above} above it has the variable ${variable} of an agent`
  }
  return orphanedTerminal(ancestors)
}

/** They make terminals for programs. A person's terminal comes from a login, an emulator, an editor or a multiplexer. */
const terminalMakers = /^(script|expect|unbuffer|socat|python[\d.]*|perl|ruby)$/

/** Whoever wants to hide that an agent made a terminal ends every process between: what is left has nobody above it. */
function orphanedTerminal(ancestors: readonly Ancestor[]): string | null {
  const isInit = ({ pid, argv }: Ancestor): boolean => pid === 1 || basename(argv[0] ?? '') === 'systemd'
  const top = ancestors.findLast((ancestor) => !isInit(ancestor))
  if (top === undefined || !ancestors.some(isInit)) return null
  const name = basename(top.argv[0] ?? '')
  const isOrphan = top.leader === 'gone' || (top.leader === 'self' && terminalMakers.test(name))
  return isOrphan ? `it comes from ${name} (process ${top.pid}), and whoever started that is gone` : null
}
