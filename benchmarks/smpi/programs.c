/* ROUNDS NAME: so many rounds of messages or of a collective call with one double, after one that is not counted.
   Prints the CPU seconds and the simulated seconds that they took. No globals: all ranks would share them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The processor's time of the whole simulation. SMPI gives programs its own gettimeofday and clock_gettime, not this. */
static double cpu_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static double exchanged(double mine, int dest, int source) {
  double other = -1;
  MPI_Sendrecv(&mine, 1, MPI_DOUBLE, dest, 0, &other, 1, MPI_DOUBLE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return other;
}

/* One round; whether it gave what it must give. */
static int done(const char *name, int size, int rank, double *all) {
  double mine = rank;
  const double sum = 0.5 * size * (size - 1.0);
  if (strcmp(name, "ring") == 0) { /* everybody to the right */
    const int left = (rank + size - 1) % size;
    return exchanged(mine, (rank + 1) % size, left) == left;
  }
  if (strcmp(name, "recursive_doubling") == 0) { /* with the ranks at distance 1, 2, 4, ... */
    for (int distance = 1; distance < size; distance *= 2)
      mine += exchanged(mine, rank ^ distance, rank ^ distance);
    return mine == sum;
  }
  if (strcmp(name, "Barrier") == 0)
    return MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS;
  if (strcmp(name, "Allreduce") == 0) {
    MPI_Allreduce(&mine, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all[0] == sum;
  }
  if (strcmp(name, "Allgather") == 0) {
    MPI_Allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    return all[size - 1] == size - 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  int size, rank, right = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = atoi(argv[1]);
  double cpu = 0, simulated = 0, *all = calloc(size, sizeof(double));
  for (int turn = 0; turn <= rounds; turn++) {
    right = right && done(argv[2], size, rank, all);
    if (turn == 0) {
      cpu = cpu_seconds();
      simulated = MPI_Wtime();
    }
  }
  if (rank == 0)
    printf("%.9g %.9g\n", cpu_seconds() - cpu, MPI_Wtime() - simulated);
  free(all);
  MPI_Finalize();
  return !right;
}
