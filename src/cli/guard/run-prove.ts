import { loadProject } from '../../config/load.ts'
import { exitCode } from '../../core/exit-code.ts'
import { chooseSubjects } from '../../guard/prove/choose-subjects.ts'
import { proofText } from '../../guard/prove/proof-text.ts'
import { type AgentProof, type GuardProof, prove } from '../../guard/prove/prove.ts'
import { hookBinPath } from '../../guard-install/hook-program.ts'
import { removeTree } from '../../io/files.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { lazyBoundary } from '../../models/boundary/lazy-boundary.ts'
import type { CliContext } from '../context.ts'
import { hookPlace } from './hook-flags.ts'

export interface ProveFlags {
  readonly agent?: readonly string[]
  readonly root?: string
  readonly json?: boolean
  readonly keep?: boolean
}

/** Answers with the table, or with all of it as JSON. */
export async function runProve(context: CliContext, flags: ProveFlags): Promise<void> {
  const { stdout, stderr, signal } = context
  const place = hookPlace(context, flags.root)
  const program = { node: process.execPath, hookBin: hookBinPath() }
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
    if (flags.json === true)
      stdout.write(`${JSON.stringify(jsonOf(proof, { ...program, root: place.root, kept }), null, 2)}\n`)
    else stdout.write(proofText(proof, look))
    if (kept !== null && flags.json !== true) stdout.write(`The scratch projects: ${kept}\n`)
    context.setExitCode(codes[proof.verdict])
  } finally {
    if (flags.keep !== true) removeTree(scratch)
  }
}

const codes = {
  fires: exitCode.pass,
  'does not fire': exitCode.failed,
  'not shown': exitCode.infra,
} as const

function jsonOf(
  { verdict, switchedOff, agents }: GuardProof,
  {
    root,
    node,
    hookBin,
    kept,
  }: { readonly root: string; readonly node: string; readonly hookBin: string; readonly kept: string | null },
): object {
  return {
    verdict,
    root,
    node,
    hook_bin: hookBin,
    scratch: kept,
    switched_off: switchedOff,
    agents: agents.map(agentJson),
  }
}

function agentJson({ durationMs, gates, ...agent }: AgentProof): object {
  return {
    ...agent,
    duration_ms: durationMs,
    gates: gates.map(({ durationMs: gateMs, ...gate }) => ({ ...gate, duration_ms: gateMs })),
  }
}
