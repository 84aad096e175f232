import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { loadPlugins } from '../support/load-plugin.ts'
import { whenInstalled } from '../support/when-installed.ts'

/** What the judgements of the findings are based on: what a session with Claude Code showed. */
interface ObservedPlugin {
  readonly plugin: string
  readonly files: Readonly<Record<string, string | { readonly text: string; readonly bytes: number }>>
  readonly observed: {
    readonly loaded: boolean
    readonly skills: readonly string[]
    readonly commands: readonly string[]
    readonly agents: readonly string[]
    readonly servers: readonly string[]
  }
}

const corpus: readonly ObservedPlugin[] = readFileSync(
  join(import.meta.dirname, '../../corpus/plugin/findings.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

whenInstalled(['claude-code'], 'the judged findings are about what Claude Code really loads', () => {
  test.each(corpus.map((each) => [each.plugin, each] as const))(
    'of %s',
    async (name, { files, observed }) => {
      const top = mkdtempSync(join(tmpdir(), 'gantry-judged-'))
      try {
        for (const [path, file] of Object.entries(files)) {
          const place = join(top, name, path)
          mkdirSync(dirname(place), { recursive: true })
          writeFileSync(place, typeof file === 'string' ? file : file.text.padEnd(file.bytes, 'x'))
        }
        const loaded = await loadPlugins('claude-code', [join(top, name)])
        const own = (names: readonly string[]) =>
          names.filter((each) => each.startsWith(`${name}:`) || each.startsWith(`plugin:${name}:`)).toSorted()
        expect({
          loaded: loaded.plugins.some((plugin) => plugin.name === name),
          skills: own(loaded.skills),
          commands: own(loaded.commands),
          agents: own(loaded.agents),
          servers: own(loaded.mcp_servers.map((server) => server.name)),
        }).toEqual({
          loaded: observed.loaded,
          skills: observed.skills.toSorted(),
          commands: observed.commands.toSorted(),
          agents: observed.agents.toSorted(),
          servers: observed.servers.toSorted(),
        })
      } finally {
        rmSync(top, { recursive: true, force: true })
      }
    },
  )
})
