import { Command } from 'commander'
import { exitCode } from '../../core/exit-code.ts'
import { snakeKeys } from '../../core/json-fields.ts'
import type { CliContext } from '../context.ts'
import { repeated } from '../flag-values.ts'
import { hookPlace } from './hook-flags.ts'

export function proveCommand(context: CliContext): Command {
  return new Command('prove')
    .description(
      'Show in the real agent that each gate of the guard fires. A script answers for the model: no key, no network.',
    )
    .option(
      '--agent <name>',
      'an agent with hooks, or one of gantry.yaml; repeatable (default: where the guard is installed, else all on the PATH)',
      repeated,
    )
    .option(
      '--root <dir>',
      'the project whose installation is compared (default: the one around the working directory)',
    )
    .option('--json', 'print JSON and nothing else on standard output')
    .option('--keep', 'keep the scratch projects, and print their path')
    .addHelpText(
      'after',
      `
Everything happens in scratch projects with a home of their own, and the hooks that 'gantry guard install' writes.
Exit code 1 when a gate that the agent could enforce does not fire, or another guard is installed than the one that was
proven; 3 when an agent cannot be run.`,
    )
    .action((flags: ProveFlags) => runProve(context, flags))
}

interface ProveFlags {
  readonly agent?: readonly string[]
  readonly root?: string
  readonly json?: boolean
  readonly keep?: boolean
}

async function runProve(context: CliContext, flags: ProveFlags): Promise<void> {
  const { loadProject } = await import('../../config/load.ts')
  const { chooseSubjects } = await import('../../guard/prove/choose-subjects.ts')
  const { proofText } = await import('../../guard/prove/proof-text.ts')
  const { prove } = await import('../../guard/prove/prove.ts')
  const { ownHookProgram } = await import('../../guard-install/hook-program.ts')
  const { removeTree } = await import('../../io/files.ts')
  const { temporaryDirectory } = await import('../../io/temporary-directory.ts')
  const { lazyBoundary } = await import('../../models/boundary/lazy-boundary.ts')
  const { stdout, stderr, signal } = context
  const place = hookPlace(context, flags.root)
  const program = ownHookProgram()
  const project = loadProject(place.root)
  const subjects = chooseSubjects(flags.agent ?? [], { project, place, program })
  await using boundary = lazyBoundary()
  const { path: scratch } = temporaryDirectory('gantry-prove-')
  try {
    const proof = await prove({
      subjects,
      place,
      program,
      boundary: await boundary.get(),
      scratch,
      signal,
      onProven: (name, { gate, verdict }) => {
        if (stderr.isTTY) stderr.write(`${name}: ${gate}: ${verdict}\n`)
      },
    })
    const look = {
      columns: stdout.columns,
      tableWidth: stdout.isTTY ? stdout.columns : Infinity,
      color: stdout.color,
    }
    const kept = flags.keep === true ? scratch : null
    if (flags.json === true) {
      const agents = proof.agents.map((agent) => ({ ...snakeKeys(agent), gates: agent.gates.map(snakeKeys) }))
      const document = snakeKeys({ ...proof, root: place.root, ...program, scratch: kept, agents })
      stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    } else stdout.write(proofText(proof, look))
    if (kept !== null && flags.json !== true) stdout.write(`The scratch projects: ${kept}\n`)
    context.setExitCode(codes[proof.verdict])
  } finally {
    if (flags.keep !== true) removeTree(scratch)
  }
}

const codes = { fires: exitCode.pass, 'does not fire': exitCode.failed, 'not shown': exitCode.infra } as const
