import { Command } from 'commander'
import { type ExitCode, exitCode } from '../../core/exit-code.ts'
import type { CliContext } from '../context.ts'
import { reporterOption } from '../flag-values.ts'
import { printReporterProblems } from '../print-reporter-problems.ts'

export function reportCommand(context: CliContext): Command {
  return new Command('report')
    .description('Report a stored run again with any reporter.')
    .argument('<run>', "a run id, the beginning of one, 'latest' or 'blessed'")
    .addOption(reporterOption())
    .option('--json', 'print one JSON document and nothing else on standard output')
    .action(async (wanted: string, flags: ReportFlags) => {
      await report(wanted, flags, context)
    })
}

export interface ReportFlags {
  readonly reporter?: string[]
  readonly json?: boolean
}

/** Reports a stored run as when it ended. Succeeds when the reports are written, whatever the verdict. */
export async function report(
  wanted: string,
  flags: ReportFlags,
  context: CliContext,
  code: ExitCode = exitCode.pass,
): Promise<void> {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { projectRedaction } = await import('../../config/project-redaction.ts')
  const { parseReporterSpec } = await import('../../report/index.ts')
  const { openReporters } = await import('../../report/open-reporters.ts')
  const { reportRun } = await import('../../library/report-run.ts')
  const { findRun } = await import('../../store/find-run.ts')
  const named = [...(flags.reporter ?? []), ...(flags.json === true ? ['json'] : [])]
  const specs = (named.length === 0 ? ['console'] : named).map(parseReporterSpec)
  const { env, cwd, stdout } = context
  // The run has ended, so plain lines are used even on a terminal.
  const reporters = await openReporters(specs, { env, cwd, stdout, plain: true })
  const store = openProjectStore(context)
  const runId = findRun(store, wanted)
  await reportRun(store, runId, reporters, projectRedaction(cwd, env).forPeople)
  const problems = reporters.problems()
  context.setExitCode(printReporterProblems(problems, { runId, code }, context))
  if (specs.some(({ path }) => path === null)) return
  const failed = new Set(problems.map(({ name }) => name))
  for (const { name, path } of specs) if (!failed.has(`${name}:${path}`)) stdout.write(`Wrote ${path}\n`)
}
