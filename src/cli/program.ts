import { Command, CommanderError } from 'commander'
import { GantryError } from '../core/error.ts'
import { type ExitCode, exitCode } from '../core/exit-code.ts'
import { version } from '../core/version.ts'
import type { CliContext } from './context.ts'

interface Entry {
  /** The usage line of the overview: the name and its arguments. */
  readonly usage: string
  readonly description: string
  readonly load: () => Promise<(context: CliContext) => Command>
}

/** Every top-level command. Only the requested one is loaded. */
const entries: readonly Entry[] = [
  {
    usage: 'test [options] [path...]',
    description: 'Test how well an agent uses a command-line tool: run scenarios, check the results, report.',
    load: async () => (await import('./test.ts')).testCommand,
  },
  {
    usage: 'scenario',
    description: 'List, show, check and create scenarios.',
    load: async () => (await import('./scenario/index.ts')).scenarioCommand,
  },
  {
    usage: 'init [options] [file]',
    description:
      'Write agent.yaml, with the installation and the checks found in this repository, tried in a sandbox, or gantry.yaml, with the agents found.',
    load: async () => (await import('./init.ts')).initCommand,
  },
  {
    usage: 'verify [options]',
    description: 'Run the verification steps of agent.yaml in a sandbox and report PASS or FAIL.',
    load: async () => (await import('./verify.ts')).verifyCommand,
  },
  {
    usage: 'task',
    description: 'Let an agent do coding tasks, each in a tree of its own and verified in a sandbox.',
    load: async () => (await import('./task/index.ts')).taskCommand,
  },
  {
    usage: 'view [options] [run...]',
    description: 'Show runs, trials, comparisons, tasks and guard sessions in the browser.',
    load: async () => (await import('./view.ts')).viewCommand,
  },
  {
    usage: 'serve [options]',
    description: 'Serve the tasks of repositories over HTTP and work on the queue until Ctrl-C.',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    usage: 'work [options]',
    description:
      'Take trials and coding tasks from a queue and run them on this machine, until Ctrl-C. No project has to be here.',
    load: async () => (await import('./work.ts')).workCommand,
  },
  {
    usage: 'queue',
    description: 'Show and steer a queue of trials and coding tasks that several machines work on.',
    load: async () => (await import('./queue.ts')).queueCommand,
  },
  {
    usage: 'guard',
    description: 'Guard coding agents with hooks: install, check, explain and unlock them.',
    load: async () => (await import('./guard/index.ts')).guardCommand,
  },
  {
    usage: 'plan',
    description: 'Work through IMPLEMENTATION_PLAN.md with an agent, verifying one task at a time.',
    load: async () => (await import('./plan/index.ts')).planCommand,
  },
  {
    usage: 'plugin',
    description:
      'Evaluate a Claude Code plugin: does each component fire when it should, and only then, and what does it cost?',
    load: async () => (await import('./plugin/index.ts')).pluginCommand,
  },
  {
    usage: 'runs',
    description: 'List, show, report, export, keep and clean stored runs.',
    load: async () => (await import('./runs/index.ts')).runsCommand,
  },
  {
    usage: 'compare [options] <a> <b>',
    description:
      'Say whether the second of two runs, agents or models is better, worse or the same, or that more trials are needed.',
    load: async () => (await import('./compare.ts')).compareCommand,
  },
  {
    usage: 'label [options] [run] [trial] [label]',
    description:
      'Say whether the result of a trial is good, to measure the judge: labels.jsonl of the project.',
    load: async () => (await import('./label.ts')).labelCommand,
  },
  {
    usage: 'judge',
    description: 'Measure the judge against the labels of people.',
    load: async () => (await import('./judge.ts')).judgeCommand,
  },
  {
    usage: 'boundary',
    description: 'Script, record, replay, meter or break the calls between a program and its model.',
    load: async () => (await import('./boundary/index.ts')).boundaryCommand,
  },
  {
    usage: 'migrate [options] [dir]',
    description:
      'Write a gantry.yaml from the settings of llm-tool-test, cc-plugin-eval and the ralph-agent harness.',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  {
    usage: 'doctor [options]',
    description:
      'Check agent.yaml, agents, models and sandboxes, and print the command that fixes each problem.',
    load: async () => (await import('./doctor/index.ts')).doctorCommand,
  },
]

/** Runs any command line. Resolves to the exit code of bad usage, or to null when the command finished. */
export async function runProgram(argv: readonly string[], context: CliContext): Promise<ExitCode | null> {
  try {
    const [first, second] = argv.filter((word) => !word.startsWith('-'))
    await refuseOldSpelling(argv)
    const program = await createProgram(context, (first === 'help' ? second : first) ?? null)
    // The help of commander knows only the commands of the first level.
    const line = first === 'help' && argv.length > 2 ? [...argv.slice(1), '--help'] : argv
    await program.parseAsync(line, { from: 'user' })
    return null
  } catch (error) {
    // Commander has already printed the help or the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.pass : exitCode.usage
    throw error
  }
}

/** Users of the tools that Gantry follows get their command line as it is written here. */
async function refuseOldSpelling(argv: readonly string[]): Promise<void> {
  const [name = ''] = argv
  const isCommand = entries.some(({ usage }) => nameOf(usage) === name)
  if (name.startsWith('-') || (isCommand && name !== 'test' && name !== 'plugin')) return
  const { oldSpelling } = await import('./old-spelling.ts')
  const old = oldSpelling(argv)
  if (old === null) return
  throw new GantryError('USAGE', `unknown ${old.word.startsWith('-') ? 'option' : 'command'} '${old.word}'`, {
    hint: `Write: ${old.today}`,
  })
}

/** With `wanted`, every other command has only a name and a description. The reference in docs/ is generated without it. */
export async function createProgram(context: CliContext, wanted?: string | null): Promise<Command> {
  const usages = new Map(
    [...entries.map(({ usage }) => usage), 'help [command]'].map((usage) => [nameOf(usage), usage]),
  )
  const program = new Command('gantry')
    .description(
      'The deterministic scaffold around coding agents: the model proposes, deterministic code disposes.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .configureHelp({ subcommandTerm: (command) => usages.get(command.name()) ?? command.name() })
    .showHelpAfterError('(add --help to see the usage)')
    .addHelpText(
      'after',
      `\nExit codes: 0 pass · 1 checks failed · 2 bad usage or input · 3 infrastructure · 4 inconclusive or partial with --strict · 130 interrupted`,
    )
  for (const { usage, description, load } of entries) {
    const name = nameOf(usage)
    const isLoaded = wanted === undefined || wanted === name
    const command = isLoaded ? (await load())(context) : new Command(name)
    program.addCommand(command.description(description))
  }
  for (const command of [program, ...descendants(program)]) adapt(command, context)
  return program
}

function nameOf(usage: string): string {
  return usage.split(' ')[0] ?? usage
}

/** Commander prints and exits by default; here everything goes through the context. */
function adapt(command: Command, context: CliContext): void {
  command.exitOverride()
  command.configureOutput({
    writeOut: (text) => context.stdout.write(text),
    writeErr: (text) => context.stderr.write(text),
    getOutHelpWidth: () => context.stdout.columns,
    getErrHelpWidth: () => context.stderr.columns,
    getOutHasColors: () => context.stdout.color,
    getErrHasColors: () => context.stderr.color,
  })
}

function descendants(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...descendants(child)])
}
