import { agentKind } from '../agent-kind.ts'
import type { CliAgent } from '../cli/contract.ts'
import { createCliAgent } from '../cli/create-cli-agent.ts'
import { launch, liveLaunch } from './launch.ts'
import { openLiveSession } from './live/open-live-session.ts'
import { type ClaudeCodeConfig, claudeCodeSchema } from './schema.ts'
import { createStreamParser } from './stream.ts'

export const claudeCredentials = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
] as const

export const claudeCode: CliAgent<ClaudeCodeConfig> = {
  driver: 'claude-code',
  program: 'claude',
  install: 'npm install --global @anthropic-ai/claude-code@2.1.325',
  supported: { from: '2.1.112', below: '3.0.0' },
  credentials: claudeCredentials,
  reportsCost: true,
  losesOutput: true,
  launch,
  createParser: createStreamParser,
  live: { launch: liveLaunch, open: openLiveSession },
  inputs: ({ plugins, settings, mcp_config }) => [
    ...plugins,
    ...(typeof settings === 'string' ? [settings] : []),
    ...mcp_config,
  ],
}

export const claudeCodeKind = agentKind({
  schema: claudeCodeSchema,
  hooks: 'claude-code',
  create: (agent) => createCliAgent(claudeCode, agent),
})
