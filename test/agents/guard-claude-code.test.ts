import { describeHostileModel } from './support/guard-claude-hostile.conformance.ts'
import { describeGuardedWork } from './support/guard-claude-work.conformance.ts'
import { describeProof } from './support/guard-prove.conformance.ts'

describeGuardedWork('claude-code')
describeHostileModel('claude-code')
describeProof('claude-code', 'claude-code')
