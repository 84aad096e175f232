import { describeKernelLayer } from './support/guard-claude-kernel.conformance.ts'

describeKernelLayer('claude-code')
