import { Command } from 'commander'
import pc from 'picocolors'
import { exitCode } from '../../core/exit-code.ts'
import type { Validation } from '../../scenario/validate.ts'
import type { CliContext } from '../context.ts'

export function validateCommand(context: CliContext): Command {
  return new Command('validate')
    .description('Validate scenario files and everything they refer to, without running anything.')
    .argument('[path...]', 'files, directories, globs or names (default: those of gantry.yaml)')
    .option('--json', 'print JSON')
    .action(async (paths: string[], flags: { readonly json?: boolean }) => {
      const { validateScenarios } = await import('../../scenario/validate.ts')
      const findings = await validateScenarios(paths, { cwd: context.cwd, env: context.env })
      if (findings.some(({ problem }) => problem !== null)) context.setExitCode(exitCode.usage)
      if (flags.json === true) context.stdout.write(`${JSON.stringify(findings, null, 2)}\n`)
      else printValidations(findings, context)
    })
}

export function printValidations(findings: readonly Validation[], { stdout }: CliContext): void {
  const { green, red, yellow, dim } = pc.createColors(stdout.color)
  for (const { file, name, problem, hint, warnings } of findings) {
    if (problem === null) stdout.write(`${green('ok')}   ${file} ${dim(name ?? '')}\n`)
    else stdout.write(`${red('bad')}  ${problem}\n${hint === null ? '' : `${dim(`     ${hint}`)}\n`}`)
    for (const warning of warnings) stdout.write(`${yellow('warn')} ${file}: ${warning}\n`)
  }
}
