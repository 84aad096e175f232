import { describe, expect, test } from 'vitest'
import { demoComponents } from '../../../../test/support/demo-plugin.ts'
import type { LoadedParts } from '../../../agents/contract.ts'
import { failedLoad, loadErrorType, pluginLoad, proveLoad, recoveryHints } from './plugin-load.ts'

const plugin = { plugin_name: 'demo', plugin_path: '/plugins/demo', components: demoComponents }
const loaded: LoadedParts = {
  version: '2.1.325',
  session_id: 's',
  tools: ['Skill'],
  skills: ['demo:greet'],
  agents: ['demo:reviewer'],
  commands: ['demo:hi', 'demo:greet'],
  plugins: [
    { name: 'demo', path: '/plugins/demo' },
    { name: 'own', path: 'builtin' },
  ],
  plugin_errors: [],
  mcp_servers: [{ name: 'plugin:demo:weather', status: 'connected', tools: ['forecast'] }],
}

// Messages of 2.1.325 and 2.1.197.
test.each([
  [
    '/p: Failed to load plugin: Plugin p has a corrupt manifest file at /p/.claude-plugin/plugin.json. JSON parse error: Unexpected EOF',
    'manifest_parse_error',
  ],
  [
    'inline[0]: Failed to load plugin: Plugin p has an invalid manifest file at /p. Validation errors: hooks: Invalid input',
    'manifest_validation',
  ],
  ['/p: Path not found: /p', 'component_discovery'],
  ['p@inline: Hook load failed: [{"message":"hooks.json must have hooks"}]', 'hook_config_error'],
  ['EACCES: permission denied, open /p/skills', 'permission_denied'],
  ['Claude Code did not report what it loaded within 5000 ms', 'timeout'],
  ['something else', 'unknown'],
])('%s is classified as %s', (words, type) => {
  expect(loadErrorType(words)).toBe(type)
})

test('every kind of error has advice', () => {
  for (const hint of Object.values(recoveryHints)) expect(hint).toMatch(/^[A-Z].*[.]$/)
})

describe('a load', () => {
  test('that is complete reports nothing', () => {
    expect(pluginLoad(plugin, loaded, 12.4)).toEqual({
      plugin_name: 'demo',
      plugin_path: '/plugins/demo',
      duration_ms: 12,
      load_cost_usd: 0,
      loaded: true,
      cli_version: '2.1.325',
      registered_tools: ['Skill'],
      registered_commands: ['demo:hi', 'demo:greet'],
      registered_skills: ['demo:greet'],
      registered_agents: ['demo:reviewer'],
      mcp_servers: [{ name: 'plugin:demo:weather', status: 'connected', tools: ['forecast'] }],
      plugins: ['own'],
      session_id: 's',
      warnings: [],
    })
  })

  test('without a component reports which one and where to look', () => {
    const { warnings } = pluginLoad(
      plugin,
      { ...loaded, skills: [], agents: [], commands: ['demo:greet'], mcp_servers: [] },
      1,
    )
    expect(warnings).toEqual([
      expect.stringContaining('skill demo:greet (skills/greet/SKILL.md)'),
      expect.stringContaining('agent demo:reviewer (agents/reviewer.md)'),
      expect.stringContaining('command demo:hi (commands/hi.md)'),
      expect.stringContaining('MCP server plugin:demo:weather (.mcp.json)'),
    ])
  })

  test('of a user-only skill is complete when it is listed as a command', () => {
    const skills = demoComponents.skills.map((skill) => ({ ...skill, disable_model_invocation: true }))
    const quiet = { ...plugin, components: { ...demoComponents, skills } }
    expect(pluginLoad(quiet, { ...loaded, skills: [] }, 1).warnings).toEqual([])
  })

  test.each([
    ['failed', 'Connection closed', 'mcp_connection_failed'],
    ['failed', 'MCP server connection timed out after 2500ms', 'mcp_timeout'],
    ['pending', undefined, 'mcp_timeout'],
    ['needs-auth', undefined, 'mcp_auth_required'],
    ['failed', 'HTTP 401 Unauthorized', 'mcp_auth_required'],
  ])('with a server that is %s (%s) still counts as a load', (status, error, type) => {
    const server = { name: 'plugin:demo:weather', status, ...(error !== undefined && { error }) }
    const load = pluginLoad(plugin, { ...loaded, mcp_servers: [server] }, 1)
    expect(load).toMatchObject({ loaded: true, error_type: type })
    expect(load.recovery_hint).not.toBe('')
  })

  test('that never happened has a message and advice', () => {
    expect(failedLoad(plugin, 'agent mine: its process ended with exit code 1', 3)).toMatchObject({
      loaded: false,
      error_type: 'unknown',
      error: 'agent mine: its process ended with exit code 1',
    })
  })
})

test('a process must have loaded exactly the plugins it was given', () => {
  const path = plugin.plugin_path
  expect(proveLoad({ plugins: [path] }, path, loaded)).toBeNull()
  expect(proveLoad({ plugins: [path, '/plugins/other'] }, path, loaded)).toContain('/plugins/other')
  expect(proveLoad({ plugins: [] }, path, loaded)).toContain('though this arm is without it')
  expect(proveLoad({ plugins: [] }, path, { ...loaded, plugins: [] })).toBeNull()
  expect(proveLoad({ plugins: [path] }, path, { ...loaded, plugin_errors: ['odd'] })).toContain('odd')
})
