import { Command } from 'commander'
import pc from 'picocolors'
import { exitCode } from '../../core/exit-code.ts'
import type { CliContext } from '../context.ts'

export function validateCommand(context: CliContext): Command {
  return new Command('validate')
    .description('Validate scenario files and everything they refer to, without running anything.')
    .argument('[path...]', 'files, directories, globs or names (default: those of gantry.yaml)')
    .option('--json', 'print JSON')
    .action(async (paths: string[], flags: { readonly json?: boolean }) => {
      const { validateScenarios } = await import('../../scenario/validate.ts')
      const findings = await validateScenarios(paths, context)
      if (findings.some(({ problem }) => problem !== null)) context.setExitCode(exitCode.usage)
      if (flags.json === true) {
        context.stdout.write(`${JSON.stringify(findings, null, 2)}\n`)
        return
      }
      const { green, red, yellow, dim } = pc.createColors(context.stdout.color)
      for (const { file, name, problem, hint, warnings } of findings) {
        if (problem === null) context.stdout.write(`${green('ok')}   ${file} ${dim(name ?? '')}\n`)
        else
          context.stdout.write(
            `${red('bad')}  ${problem}\n${hint === null ? '' : `${dim(`     ${hint}`)}\n`}`,
          )
        for (const warning of warnings) context.stdout.write(`${yellow('warn')} ${file}: ${warning}\n`)
      }
    })
}
