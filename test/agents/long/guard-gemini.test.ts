import { describeGuard } from '../support/guard.conformance.ts'

describeGuard('gemini', { verify: () => 'node --test', evidenceBy: 'agent', driverSteers: true })
