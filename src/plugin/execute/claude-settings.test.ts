import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { agentSchema } from '../../agents/index.ts'
import { pluginConfigSchema } from '../config/keys/schema.ts'
import { claudeSettings } from './claude-settings.ts'

const settings = {
  plugins: ['/plugins/demo'],
  model: 'default',
  allowedTools: ['Skill'],
  disallowedTools: ['Bash'],
  addDirs: ['/data'],
  env: {},
  mocks: null,
  appendSystemPrompt: 'Be brief.',
}
const agent = (more: object = {}) => agentSchema.parse({ driver: 'claude-code', ...more })
const config = (more: object = {}) => pluginConfigSchema.parse(more)

test('plugins and settings files are those of the evaluation, tools and prompts are added to those of the agent', () => {
  const own = agent({
    plugins: ['./other'],
    setting_sources: ['user'],
    allowed_tools: ['Read'],
    disallowed_tools: ['WebFetch'],
    append_system_prompt: 'Speak English.',
    resume: 'abc',
    max_turns: 3,
    effort: 'low',
  })
  const made = claudeSettings(own, '/base', config(), settings)
  expect(made).toMatchObject({
    plugins: ['/plugins/demo'],
    setting_sources: [],
    allowed_tools: ['Read', 'Skill'],
    disallowed_tools: ['WebFetch', 'Bash'],
    add_dirs: ['/data'],
    append_system_prompt: 'Speak English.\n\nBe brief.',
    permission_mode: 'bypassPermissions',
    effort: 'low',
  })
  expect(made).not.toHaveProperty('resume')
  expect(made).not.toHaveProperty('max_turns')
})

test('project settings are read only when MCP servers are in scope', () => {
  const made = claudeSettings(agent(), '/base', config({ scope: { mcp_servers: true } }), settings)
  expect(made).toMatchObject({ setting_sources: ['project'] })
})

test('without the bypass the agent asks for permission, unless its settings say otherwise', () => {
  const careful = config({ execution: { permission_bypass: false } })
  expect(claudeSettings(agent(), '/', careful, settings)).toMatchObject({ permission_mode: 'default' })
  expect(claudeSettings(agent({ permission_mode: 'plan' }), '/', careful, settings)).toMatchObject({
    permission_mode: 'plan',
  })
})

test('the sandbox is merged into the agent’s own settings with the keys of Claude Code', async () => {
  await using fixture = await createFixture({ 'own.json': '{"theme":"dark","sandbox":{"enabled":false}}' })
  const sandbox = {
    enabled: true,
    auto_allow_bash_if_sandboxed: true,
    network: { allowed_domains: ['a.example'], allow_local_binding: false, http_proxy_port: 8080 },
    ignore_violations: { 'my_command *': ['/a_b'] },
    ripgrep: { command: 'rg', args: ['--x_y'] },
  }
  const made = claudeSettings(
    agent({ settings: 'own.json' }),
    fixture.path,
    config({ execution: { sandbox } }),
    settings,
  )
  expect(made).toMatchObject({
    settings: {
      theme: 'dark',
      sandbox: {
        enabled: true,
        autoAllowBashIfSandboxed: true,
        network: { allowedDomains: ['a.example'], allowLocalBinding: false, httpProxyPort: 8080 },
        ignoreViolations: { 'my_command *': ['/a_b'] },
        ripgrep: { command: 'rg', args: ['--x_y'] },
      },
    },
  })
  const missing = () =>
    claudeSettings(
      agent({ settings: 'none.json' }),
      fixture.path,
      config({ execution: { sandbox } }),
      settings,
    )
  expect(missing).toThrow('is not a file with a JSON object')
})

test('settings of an agent without a sandbox are unchanged', () => {
  expect(claudeSettings(agent({ settings: './own.json' }), '/', config(), settings)).toMatchObject({
    settings: './own.json',
  })
})
