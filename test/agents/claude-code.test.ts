import { describeAgent } from './support/agent.conformance.ts'

describeAgent('claude-code', {
  id: 'claude-code',
  config: { driver: 'claude-code' },
  model: 'claude-sonnet-4-5',
  impatient: { CLAUDE_CODE_MAX_RETRIES: '1' },
})
