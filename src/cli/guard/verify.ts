import { Command } from 'commander'
import { createColors } from 'picocolors'
import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { exitCode } from '../../core/exit-code.ts'
import type { ProjectVerification } from '../../guard/verify-project.ts'
import type { VerificationRun } from '../../guard-engine/contract.ts'
import { displayWidth, padRight } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { CliContext } from '../context.ts'
import { hookPlace } from './hook-flags.ts'

interface VerifyFlags {
  readonly root?: string
  readonly json?: boolean
}

export function verifyCommand(context: CliContext): Command {
  return new Command('verify')
    .description('Run the verification commands of the project and record evidence that no agent can fake.')
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .option('--json', 'print JSON and nothing else on standard output')
    .addHelpText(
      'after',
      '\nExit codes: 0 all green · 1 something failed or proves nothing · 3 a command could not be run · 4 no command is known',
    )
    .action((flags: VerifyFlags) => runVerify(context, flags))
}

const exitCodes = {
  green: exitCode.pass,
  red: exitCode.failed,
  infra: exitCode.infra,
  nothing_declared: exitCode.inconclusive,
} as const

async function runVerify(context: CliContext, flags: VerifyFlags): Promise<void> {
  const { findAgentAbove } = await import('../../guard/unlock/prove-person.ts')
  const { isGreen, verifyProject } = await import('../../guard/verify-project.ts')
  const { guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
  const { sealedNotice } = await import('../../guard-engine/settings/settings-in-force.ts')
  const { env, signal, stderr } = context
  const { root } = hookPlace(context, flags.root)
  const done = await verifyProject({
    root,
    guardHome: guardHome(env),
    env,
    beneathAgent: (await findAgentAbove({ env, pid: process.pid })) !== null,
    signal,
    nowMs: () => Date.now(),
    onStart: ({ command }) => stderr.write(`running ${plainLine(command)}\n`),
  })
  const notice = sealedNotice(done)
  if (notice !== null) stderr.write(`${plainLine(notice)}\n`)
  if (flags.json === true) context.stdout.write(`${JSON.stringify({ root, ...done }, null, 2)}\n`)
  else printRuns(done, isGreen, context)
  context.setExitCode(signal.aborted ? exitCode.interrupted : exitCodes[done.verdict])
}

function printRuns(
  { runs, verdict, weakened, missing }: ProjectVerification,
  isGreen: (run: VerificationRun) => boolean,
  { stdout }: CliContext,
): void {
  const paint = createColors(stdout.color)
  const width = Math.max(0, ...runs.map(({ command }) => displayWidth(plainLine(command))))
  for (const run of runs) {
    const mark = isGreen(run) ? paint.green('green') : paint.red('red  ')
    const name = padRight(plainLine(run.command), width)
    stdout.write(`  ${mark}  ${name}  ${padRight(run.kind, 5)}  ${outcomeOf(run)}\n`)
  }
  for (const command of missing)
    stdout.write(`  not run  ${plainLine(command)}: its program is not installed\n`)
  const isPartly = verdict === 'green' && missing.length > 0
  stdout.write(
    `${isPartly ? 'Every check that can run here is green; the others were not run.' : sentences[verdict]}\n`,
  )
  if (weakened.length > 0)
    stdout.write('The tests were weakened since the session began or they were last green:\n')
  for (const text of weakened) stdout.write(`  ${plainLine(text)}\n`)
}

const sentences = {
  green: 'Every check is green for the current files.',
  red: 'Not every check is green.',
  infra: 'A command could not be run, so the result says nothing about the project.',
  nothing_declared:
    'No verification command is known. Write one into AGENTS.md as a bullet that starts with `the command`.',
} as const

function outcomeOf(run: VerificationRun): string {
  const took = formatDuration(run.durationMs)
  if (run.notCounted !== undefined) return `proves nothing: ${plainLine(run.notCounted)} (${took})`
  const tests =
    run.executed === undefined
      ? ''
      : `, ${counted(run.executed, 'test')}${run.skipped ? `, ${run.skipped} skipped` : ''}`
  return `exit ${run.exitCode}${tests} (${took})`
}
