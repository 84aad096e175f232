import { redactsLongTexts } from './long-texts.conformance.ts'

redactsLongTexts(100_000)
