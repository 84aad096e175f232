import { Command } from 'commander'
import pc from 'picocolors'
import { exitCode } from '../../core/exit-code.ts'
import type { GraderCheck } from '../../scenario/check.ts'
import type { CliContext } from '../context.ts'

export function checkCommand(context: CliContext): Command {
  return new Command('check')
    .description(
      'Check the gates without spending money: an agent that does nothing must fail, the oracle must pass.',
    )
    .argument('[path...]', 'files, directories, globs or names (default: those of gantry.yaml)')
    .option('--json', 'print JSON')
    .action(async (paths: string[], flags: { readonly json?: boolean }) => {
      const [{ loadScenarios }, { checkGraders }] = await Promise.all([
        import('../../scenario/load-case.ts'),
        import('../../scenario/check.ts'),
      ])
      const { cases, project } = await loadScenarios(paths, {}, context)
      const checks: GraderCheck[] = []
      for (const entry of cases) {
        const check = await checkGraders(entry, { ...context, redact: project.config.redact })
        checks.push(check)
        if (flags.json !== true) print(check, context)
      }
      if (flags.json === true) context.stdout.write(`${JSON.stringify(checks, null, 2)}\n`)
      else {
        const sound = checks.filter((check) => check.sound).length
        context.stdout.write(`\n${sound} of ${checks.length} scenarios have sound gates.\n`)
      }
      if (checks.some((check) => !check.sound)) context.setExitCode(exitCode.failed)
    })
}

/** A gate on how the agent works fails for every script, which says nothing about the solution. */
function oracleWord({ sound, oracle }: GraderCheck): string {
  if (oracle === null || !sound || oracle.verdict !== 'fail') return oracle?.verdict ?? 'none'
  const failed = new Set(oracle.gates.filter((gate) => !gate.passed).map((gate) => gate.type))
  return `pass, apart from ${[...failed].join(' and ')}`
}

function print(check: GraderCheck, { stdout }: CliContext): void {
  const { green, red, yellow, bold, dim } = pc.createColors(stdout.color)
  stdout.write(
    `${check.sound ? green('sound  ') : red('unsound')}  ${bold(check.case)}  ${dim(check.file)}\n`,
  )
  stdout.write(
    dim(
      `         no-op: ${check.noop.verdict}${check.oracle === null ? '' : ` · oracle: ${oracleWord(check)}`}\n`,
    ),
  )
  for (const problem of check.problems) stdout.write(`         ${red('!')} ${problem}\n`)
  for (const remark of check.remarks) stdout.write(`         ${yellow('-')} ${remark}\n`)
}
