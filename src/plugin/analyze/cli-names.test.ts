import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { displayWidth } from '../../report/display-width.ts'
import { componentId } from '../component-list.ts'
import { analyzePlugin } from './analyze-plugin.ts'
import type { Analysis } from './contract.ts'

/** Plugins, and what Claude Code 2.1.325 reported after loading them. */
interface Case {
  readonly name: string
  readonly manifest: Readonly<Record<string, unknown>>
  readonly files: Readonly<Record<string, string>>
  readonly reported: {
    /** What a user can type. */
    readonly commands: readonly string[]
    readonly agents: readonly string[]
    readonly servers: readonly string[]
    readonly tools: readonly string[]
    /** Lines of the listing for the model. */
    readonly listing: readonly string[]
  }
}

const cases: readonly Case[] = readFileSync(
  join(import.meta.dirname, '../../../test/corpus/plugin/cli-names.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

describe('Claude Code calls components as the analysis says', () => {
  test.each(cases.map((each) => [each.name, each] as const))(
    '%s',
    async (_, { manifest, files, reported }) => {
      await using fixture = await createFixture({
        'the-plugin/.claude-plugin/plugin.json': JSON.stringify(manifest),
        ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`the-plugin/${path}`, text])),
      })
      const outcome = await analyzePlugin({
        path: fixture.getPath('the-plugin'),
        cwd: fixture.path,
        contextTokens: 2_000_000,
      })
      if (outcome.kind !== 'analysed') throw new Error('refused')
      const { components, listing } = outcome.analysis
      const typed = [...components.commands, ...components.skills.filter((skill) => skill.user_invocable)]
      expect(namesOf(typed)).toEqual(reported.commands)
      expect(namesOf(components.agents).sort()).toEqual(reported.agents.toSorted())
      expect(namesOf(startable(outcome.analysis))).toEqual(reported.servers)
      expect(listing.entries.map(({ component }) => cliNameOf(outcome.analysis, component))).toEqual(
        reported.listing.map(nameInListing),
      )
      expect(listing.entries.map(({ characters }) => characters)).toEqual(
        reported.listing.map((line) => displayWidth(line) + 1),
      )
      for (const tool of reported.tools)
        expect(components.mcp_servers.some(({ tool_prefix: prefix }) => tool.startsWith(prefix))).toBe(true)
    },
  )
})

function namesOf(components: readonly { readonly cli_name: string }[]): string[] {
  return [...new Set(components.map(({ cli_name }) => cli_name))]
}

/** Without those that are skipped according to the findings. */
function startable({ components, findings }: Analysis): Analysis['components']['mcp_servers'] {
  const left = findings
    .filter(({ code }) => code === 'MCP_INVALID' || code === 'MCP_DUPLICATE')
    .map(({ components: ids }) => ids.at(-1))
  return components.mcp_servers.filter(({ name }) => !left.includes(componentId('mcp_server', name)))
}

function cliNameOf({ components }: Analysis, id: string): string | undefined {
  return (
    components.commands.find(({ name }) => componentId('command', name) === id)?.cli_name ??
    components.skills.find(({ name }) => componentId('skill', name) === id)?.cli_name
  )
}

function nameInListing(line: string): string | undefined {
  return /^- (\S(?:.*?\S)?)(?: \([^)]*\))?: /.exec(line)?.[1]
}
