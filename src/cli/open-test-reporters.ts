import { parseReporterSpec } from '../report/index.ts'
import { type ComposedReporter, composeReporters, openReporters } from '../report/open-reporters.ts'
import type { CliContext } from './context.ts'
import type { TestFlags } from './test-flags.ts'

/**
 * The reporters a run was asked for. A person who takes the JSON from standard output still gets the live view, on the
 * other stream, when that one is a terminal.
 */
export async function openTestReporters(
  flags: Pick<TestFlags, 'json' | 'reporter'>,
  context: CliContext,
): Promise<ComposedReporter> {
  const named = (flags.reporter ?? []).map(parseReporterSpec)
  const specs = flags.json === true ? [...named, parseReporterSpec('json')] : named
  const onStdout = specs.some(({ path }) => path === null)
  const place = { env: context.env, cwd: context.cwd }
  if (!onStdout)
    return openReporters([...specs, parseReporterSpec('console')], { ...place, stdout: context.stdout })
  const asked = await openReporters(specs, { ...place, stdout: context.stdout })
  const forPeople = specs.some(({ name, path }) => name === 'console' && path === null)
  if (forPeople || !context.stderr.isTTY) return asked
  const beside = await openReporters([parseReporterSpec('console')], { ...place, stdout: context.stderr })
  const both = composeReporters({ asked, beside })
  return { ...both, problems: () => [...both.problems(), ...asked.problems(), ...beside.problems()] }
}
