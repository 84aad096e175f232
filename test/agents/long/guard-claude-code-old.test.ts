import { describeHostileModel } from '../support/guard-claude-hostile.conformance.ts'
import { describeGuardedWork } from '../support/guard-claude-work.conformance.ts'
import { describeProof } from '../support/guard-prove.conformance.ts'

describeGuardedWork('claude-code-old')
describeHostileModel('claude-code-old')
describeProof('claude-code-old', 'claude-code')
