import { playChanges } from './change-story.ts'

playChanges('honest', ['--sandbox', 'bubblewrap'], { part: 'some' })
