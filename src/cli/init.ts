import { join, resolve } from 'node:path'
import { Argument, Command, Option } from 'commander'
import { GantryError } from '../core/error.ts'
import { exitCode } from '../core/exit-code.ts'
import { findProgram } from '../io/find-program.ts'
import { entryKind, isDirectory } from '../io/path-kind.ts'
import { plainLine } from '../report/plain-text.ts'
import { type SandboxName, sandboxNames } from '../sandboxes/contract.ts'
import type { Proposed } from '../verifier/propose-agent-file.ts'
import type { CliContext } from './context.ts'

interface InitFlags {
  readonly root?: string
  readonly image?: string
  readonly print?: boolean
  readonly sandbox?: 'auto' | SandboxName
  /** `false`: the proposal is not run. */
  readonly try?: boolean
  readonly yes?: boolean
}

const files = ['agent.yaml', 'gantry.yaml'] as const

export function initCommand(context: CliContext): Command {
  return new Command('init')
    .addArgument(
      new Argument(
        '[file]',
        'agent.yaml: the steps of gantry verify and gantry task; gantry.yaml: agents and scenarios',
      )
        .choices(files)
        .default('agent.yaml'),
    )
    .option('--root <dir>', 'the repository (default: the one around the working directory)')
    .option('--image <name>', 'the image of the sandbox, for agent.yaml (default: chosen by the toolchain)')
    .option('--print', 'print the file without trying it, and write nothing')
    .addOption(
      new Option('--sandbox <engine>', 'where the proposal for agent.yaml is tried')
        .choices(['auto', ...sandboxNames])
        .default('auto'),
    )
    .option('--no-try', 'write agent.yaml without running it')
    .option('-y, --yes', 'ask no questions')
    .addHelpText(
      'after',
      '\nExit codes: 0 written · 1 written, but a step fails · 2 bad usage · 3 written, but no sandbox works · 130 interrupted',
    )
    .action((file: (typeof files)[number], flags: InitFlags) => runInit(flags, context, file))
}

export async function runInit(
  flags: InitFlags,
  context: CliContext,
  file: (typeof files)[number] = 'agent.yaml',
): Promise<void> {
  const { findGitTop } = await import('../io/find-git-top.ts')
  const { root, image, print } = flags
  const directory = resolve(context.cwd, root ?? '.')
  if (!isDirectory(directory))
    throw new GantryError('NOT_FOUND', `${directory} is not a directory`, {
      hint: 'Name the repository with --root DIR.',
    })
  if (file === 'gantry.yaml' && image !== undefined)
    throw new GantryError('USAGE', '--image has no meaning for gantry.yaml', { hint: 'Remove it.' })
  const repository = root === undefined ? (findGitTop(directory) ?? directory) : directory
  const path = join(repository, file)
  // Any existing entry, even a dangling link, belongs to the user.
  const taken = [path, ...(file === 'gantry.yaml' ? [join(repository, 'gantry.yml')] : [])].find(
    (each) => entryKind(each) !== null,
  )
  if (print !== true && taken !== undefined)
    throw new GantryError('USAGE', `${taken} exists already`, {
      hint: 'Edit it by hand, or print the proposal with --print.',
    })
  const { text, lines } =
    file === 'agent.yaml'
      ? await agentFile(repository, flags, context)
      : await gantryFile(repository, context)
  if (print === true) {
    context.stdout.write(text)
    return
  }
  const { writeFileAtomic } = await import('../io/files.ts')
  writeFileAtomic(path, text)
  context.stdout.write(`Wrote ${path}${lines.join('\n')}\n`)
}

interface Proposal {
  readonly text: string
  /** Printed after the path. */
  readonly lines: readonly string[]
}

async function agentFile(repository: string, flags: InitFlags, context: CliContext): Promise<Proposal> {
  const { agentFileText, proposeAgentFile } = await import('../verifier/propose-agent-file.ts')
  const first = await proposeAgentFile(repository, flags.image)
  const isTried = first.steps.length > 0 && flags.print !== true && (await shallTry(first, flags, context))
  const { proposed, lines } = isTried
    ? await (await import('./run-proposal.ts')).runProposal(
        repository,
        first,
        flags.sandbox ?? 'auto',
        context,
      )
    : { proposed: first, lines: ['Check it, then run: gantry verify'] }
  const { image, setup, steps } = proposed
  if (steps.length === 0 && flags.print !== true) context.setExitCode(exitCode.failed)
  return {
    text: agentFileText(proposed),
    lines: [
      `: ${image}`,
      ...setup.map(({ command, source }) => `  ${plainLine(command)}  (setup, ${plainLine(source)})`),
      ...steps.map(({ command, source }) => `  ${plainLine(command)}  (${plainLine(source)})`),
      ...(steps.length === 0
        ? ['No verification command was found. Add one to the file: without it, gantry verify fails.']
        : lines),
      'To test how agents use a tool, write gantry.yaml too: gantry init gantry.yaml',
    ],
  }
}

/** A person at a terminal is asked. */
async function shallTry(
  { setup, steps }: Proposed,
  { try: wanted = true, yes = false }: InitFlags,
  { signal }: CliContext,
): Promise<boolean> {
  const terminal = (await import('../io/terminal.ts')).processTerminal()
  if (!wanted || yes || !terminal.isTerminal) return wanted
  const lines = [...setup, ...steps].map(({ command }) => `  ${plainLine(command)}\n`)
  const install = setup.length === 0 ? '' : ' Setup may use the network.'
  terminal.write(`${lines.join('')}Try these commands in a sandbox now?${install} [Y/n] `)
  return !/^\s*n/i.test((await terminal.readLine(signal)) ?? 'n')
}

const agentPrograms = {
  claude: 'claude-code',
  codex: 'codex',
  gemini: 'gemini',
  opencode: 'opencode',
  copilot: 'copilot',
} as const

async function gantryFile(repository: string, { env }: CliContext): Promise<Proposal> {
  const { schemaLine } = await import('../scenario/new-scenario.ts')
  const found = Object.entries(agentPrograms).filter(([name]) => findProgram(name, env.PATH ?? '') !== null)
  const agents =
    found.length === 0
      ? ['# agents:', '#   mine: { driver: command, command: [sh, ./agent.sh, "{prompt}"] }']
      : ['agents:', ...found.map(([name, driver]) => `  ${name}: { driver: ${driver} }`)]
  return {
    text: `${schemaLine('gantry', repository, repository)}${agents.join('\n')}
scenarios: ["scenarios/**/*.yaml"]
fixtures_path: fixtures
# The tool under test, for scenarios with 'target: from_config'.
# target: { binary: mytool, health_check: mytool --version }
`,
    lines: [
      `: ${found.length === 0 ? 'no agent was found on PATH, so name yours in it' : `agents on PATH: ${found.map(([name]) => name).join(', ')}`}`,
      'Then write a scenario: gantry scenario new NAME --target TOOL --dir scenarios',
    ],
  }
}
