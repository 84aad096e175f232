import { findAgent } from '../../../scripts/agent-cache.ts'
import { describeAgent } from '../support/agent.conformance.ts'

describeAgent('claude-sdk', {
  id: 'claude-agent-sdk',
  config: {
    driver: 'claude-sdk',
    package: findAgent('claude-agent-sdk')?.directory ?? './not-installed',
    binary: findAgent('claude-code')?.program ?? './not-installed',
  },
  model: 'claude-sonnet-4-5',
  impatient: { CLAUDE_CODE_MAX_RETRIES: '1' },
  lacks: { program_version: 'the version that counts is that of the package' },
})
