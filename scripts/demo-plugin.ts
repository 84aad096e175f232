// Part of the demo: a plugin, without an agent. Reads its files, and really starts the hooks of another plugin.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const examples = join(root, 'examples/plugin')

interface Found {
  readonly code: string
}

/** Returns whether the examples were judged correctly. */
export function demoPlugin(store: string): boolean {
  console.log(`
Plugins: would each skill, agent, command and hook fire when it should, and only then?

Two skills and a command of examples/plugin/overlapping want the same requests; that can be read from the files alone:

$ gantry plugin analyze examples/plugin/overlapping
`)
  const analysis = plugin(['analyze', join(examples, 'overlapping'), '--json'], store)
  const { findings } = JSON.parse(analysis.stdout) as {
    readonly findings: readonly (Found & { message: string })[]
  }
  for (const { code, message } of findings) console.log(`  ${code}: ${message}`)
  console.log(`
The hooks of examples/plugin/hooks-only are started with the events Claude Code would send:

$ gantry plugin hooks examples/plugin/hooks-only
`)
  const hooks = plugin(['hooks', join(examples, 'hooks-only'), '--json'], store)
  const { summary } = JSON.parse(hooks.stdout) as {
    readonly summary: { readonly events: number; readonly examples_passed: number; readonly errors: number }
  }
  console.log(
    `  ${summary.events} events, ${summary.examples_passed} examples of the author pass, ${summary.errors} errors`,
  )
  const overlaps = findings.filter(({ code }) => code === 'OVERLAPPING_DESCRIPTIONS').length
  const asExpected =
    overlaps > 0 &&
    analysis.status === 0 &&
    hooks.status === 0 &&
    summary.errors === 0 &&
    summary.examples_passed > 0
  console.log(
    asExpected
      ? '\nAs expected. With Claude Code on the PATH: cd examples/plugin/overlapping && ../../../bin/gantry plugin run. More: docs/plugin.md.\n'
      : `\nSomething is wrong: ${overlaps} overlaps, exit codes ${analysis.status} and ${hooks.status}.\n`,
  )
  return asExpected
}

function plugin(
  argv: readonly string[],
  store: string,
): { readonly status: number | null; readonly stdout: string } {
  return spawnSync(process.execPath, [join(root, 'src/bin.ts'), 'plugin', ...argv], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, AGENT_ARTIFACT_DIR: store },
  })
}
