import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { STATUSES } from '@bull-board/api/constants/statuses';
import type { JobStatus, Status } from '@bull-board/api/typings/app';
import type { Queue } from 'bullmq';
import { JOB_STATES } from '../status/reading/queue-status.ts';

/** The queue as the board shows it: with the states its jobs can have, and without actions. */
export class BoardQueue extends BullMQAdapter {
  constructor(queue: Queue) {
    super(queue, {
      readOnlyMode: true,
      description: 'Each job names commits whose plants are to be processed.',
    });
  }

  override getStatuses(): Status[] {
    return [STATUSES.latest, ...JOB_STATES];
  }

  override getJobStatuses(): JobStatus[] {
    return [...JOB_STATES];
  }
}
