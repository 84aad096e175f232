import { basename } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { randomSuffix } from '../../io/ids.ts'
import { type Ancestor, processAncestors } from '../../io/process-ancestors.ts'
import type { Terminal } from '../../io/terminal.ts'

export interface PersonCheck extends ProcessOrigin {
  readonly terminal: Terminal
  readonly signal: AbortSignal
  /** What is about to happen, as a sentence. */
  readonly about: string
}

/** The person's name for the ledger: `dev on /dev/pts/3`. Throws GantryError USAGE unless a person at a terminal confirms. */
export async function provePerson(check: PersonCheck): Promise<string> {
  const { terminal, env, signal, about } = check
  await refuseBeneathAgent(check)
  if (!terminal.isTerminal) {
    throw new GantryError('USAGE', 'this needs confirmation by a person, but there is no terminal', {
      hint: 'Run it yourself in a terminal, without pipes or redirections.',
    })
  }
  const code = randomSuffix(6)
  terminal.write(`${about}\nType ${code} to continue, anything else to cancel: `)
  const answer = await terminal.readLine(signal)
  if (answer?.trim().toLowerCase() !== code) {
    throw new GantryError('USAGE', 'the code did not match, so nothing was changed', {
      hint: 'Run the command again and type the code that it shows.',
    })
  }
  const name = env.SUDO_USER || env.USER || env.LOGNAME || 'unknown user'
  return terminal.name === null ? name : `${name} on ${terminal.name}`
}

/** For actions that only a person may do, with or without confirmation. */
export async function refuseBeneathAgent(descent: ProcessOrigin): Promise<void> {
  const agent = await findAgentAbove(descent)
  if (agent === null) return
  throw new GantryError(
    'USAGE',
    `only a person may run this, but an agent seems to be running it: ${agent}`,
    {
      hint: 'Run it in a terminal that was not started by an agent. Remove a variable you have set yourself with env -u NAME.',
    },
  )
}

/** The variable that shows that an agent started this process; null when there is none. */
export function agentVariable(names: readonly string[]): string | null {
  return names.find((name) => marks.test(name) && !configuration.test(name)) ?? null
}

/** The agent's name, from the program or the script the process was started with; null when it is not an agent. */
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

/** Set by users and editors for every terminal, so they do not show that an agent runs. */
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

export interface ProcessOrigin {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
}

/** Evidence that an agent started this process, as the end of a sentence; null when there is none. */
export async function findAgentAbove({ env, pid }: ProcessOrigin): Promise<string | null> {
  const own = agentVariable(Object.keys(env).filter((name) => env[name] !== undefined))
  if (own !== null) return `the variable ${own} is set, which agents set for the processes they start`
  const ancestors = await processAncestors(pid)
  if (ancestors === null) return 'this system does not report which program started this one'
  for (const { pid: above, argv, variables } of ancestors) {
    const agent = agentOf(argv)
    if (agent !== null) return `it was started by ${agent} (process ${above})`
    const variable = agentVariable(variables)
    if (variable !== null) return `its ancestor process ${above} has the variable ${variable} of an agent`
  }
  return orphanedTerminal(ancestors)
}

/** These programs create terminals for other programs. A person's terminal comes from a login, an emulator, an editor or a multiplexer. */
const terminalMakers = /^(script|expect|unbuffer|socat|python[\d.]*|perl|ruby)$/

/** To hide that an agent created a terminal, every process in between must end. What is left has no parent. */
function orphanedTerminal(ancestors: readonly Ancestor[]): string | null {
  const isInit = ({ pid, argv }: Ancestor): boolean => pid === 1 || basename(argv[0] ?? '') === 'systemd'
  const top = ancestors.findLast((ancestor) => !isInit(ancestor))
  if (top === undefined || !ancestors.some(isInit)) return null
  const name = basename(top.argv[0] ?? '')
  const isOrphan = top.leader === 'gone' || (top.leader === 'self' && terminalMakers.test(name))
  return isOrphan
    ? `its terminal was created by ${name} (process ${top.pid}), whose parent process has ended`
    : null
}
