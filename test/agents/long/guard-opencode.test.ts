import { describeGuard } from '../support/guard.conformance.ts'

describeGuard('opencode', { verify: () => 'node --test', evidenceBy: 'agent' })
