import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture, type FileTree } from 'fs-fixture'
import type { Analysis, HookComponent } from '../../src/plugin/analyze/contract.ts'

type Handler = Readonly<Record<string, unknown>>

export interface HookPlugin extends AsyncDisposable {
  readonly path: string
  readonly analysis: Analysis
}

/** A plugin with these hooks and files on the disk, and its analysis. Scripts are executable when they begin with `#!`. */
export async function pluginWithHooks(
  hooks: Readonly<Record<string, readonly { matcher?: string; hooks: readonly Handler[] }[]>>,
  files: FileTree = {},
): Promise<HookPlugin> {
  const fixture = await createFixture({ 'hooks/hooks.json': JSON.stringify({ hooks }), ...files })
  return {
    path: fixture.path,
    analysis: hooksAnalysis(fixture.path),
    [Symbol.asyncDispose]: () => fixture.rm(),
  }
}

/** What the analysis of a plugin says of its hooks, and nothing else. */
export function hooksAnalysis(path: string, change: Partial<Analysis> = {}): Analysis {
  const { hooks } = JSON.parse(readFileSync(join(path, 'hooks/hooks.json'), 'utf8'))
  const groups = Object.entries<{ matcher?: string; hooks: Handler[] }[]>(hooks).flatMap(([event, listed]) =>
    listed.map((group): HookComponent => component(event, group.matcher ?? null, group.hooks)),
  )
  return {
    schema_version: 1,
    plugin_name: 'demo',
    plugin_path: path.replace(/\/$/, ''),
    manifest: { name: 'demo' },
    preflight: {
      valid: true,
      plugin_path: path,
      resolved_path: path,
      manifest_path: null,
      plugin_name: 'demo',
      errors: [],
      warnings: [],
    },
    components: { skills: [], agents: [], commands: [], hooks: groups, mcp_servers: [] },
    findings: [],
    listing: { budget_characters: 0, used_characters: 0, entries: [] },
    trigger_understanding: { skills: {}, agents: {}, commands: {}, hooks: {}, mcp_servers: {} },
    content_hash: '',
    plugin_load_result: null,
    ...change,
  }
}

function component(event: string, matcher: string | null, handlers: readonly Handler[]): HookComponent {
  const name = `${event}::${matcher ?? '*'}`
  return {
    name,
    cli_name: `${event}:${matcher ?? '*'}`,
    plugin: 'demo',
    path: 'hooks/hooks.json',
    line: 1,
    description: '',
    event,
    matcher,
    matching_tools: [],
    expected_behavior: 'unknown',
    handlers: handlers.map((raw) => ({
      type: String(raw.type),
      action: [raw.command ?? raw.prompt ?? raw.url ?? '', ...(Array.isArray(raw.args) ? raw.args : [])].join(
        ' ',
      ),
      ...(typeof raw.timeout === 'number' && { timeout_seconds: raw.timeout }),
      raw,
    })),
  }
}
