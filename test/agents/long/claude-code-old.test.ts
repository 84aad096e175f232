import { describeAgent } from '../support/agent.conformance.ts'

describeAgent('claude-code, an older version', {
  id: 'claude-code-old',
  config: { driver: 'claude-code' },
  model: 'claude-sonnet-4-5',
  impatient: { CLAUDE_CODE_MAX_RETRIES: '1' },
})
